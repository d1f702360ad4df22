"""The scripts of a desk, which Redis runs: each reads the clock, does one act whole, and sets the ends of the desk's keys anew.

KEYS: entries, priorities, ends, sums. Priorities and ends are of what is not pinned. ARGV begins with how many uses count.
"""

_SHARED = """
local slots, ranks, ends, sums = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kept = redis.call('HMGET', sums, 'used', 'pinned', 'clock', 'longest')
local used, pinned = tonumber(kept[1] or 0), tonumber(kept[2] or 0)
local clock, longest = tonumber(kept[3] or 0), tonumber(kept[4] or 0)

local function find(key)
  local slot = redis.call('HGET', slots, key)
  if not slot then return nil end
  local tokens, is_pinned, worth, uses, ttl, task, text = string.match(slot, '^(%d+) (%d) (%S+) (%d+) (%d+) (%d) (.*)$')
  local entry = {tokens = tonumber(tokens), pinned = is_pinned == '1', worth = worth, uses = tonumber(uses), ttl = tonumber(ttl),
                 task = task, text = text}
  local ends_at = redis.call('ZSCORE', ends, key)
  entry.has_faded = ends_at and tonumber(ends_at) <= now
  entry.ends_at = ends_at or ''
  return entry
end

local function remove(key, entry)
  redis.call('HDEL', slots, key)
  redis.call('ZREM', ranks, key)
  redis.call('ZREM', ends, key)
  used = used - entry.tokens
  if entry.pinned then pinned = pinned - entry.tokens end
end

local function head(entry)
  local pin = entry.pinned and 1 or 0
  return string.format('%d %d %s %d %d %s ', entry.tokens, pin, entry.worth, entry.uses, entry.ttl, entry.task)
end

local function place(key, entry)
  redis.call('HSET', slots, key, head(entry) .. entry.text)
  if entry.pinned then
    redis.call('ZREM', ranks, key)
    redis.call('ZREM', ends, key)
    entry.ends_at = ''
  else
    redis.call('ZADD', ranks, clock + entry.worth * math.min(entry.uses, tonumber(ARGV[1])), key)
    redis.call('ZADD', ends, now + entry.ttl, key)
    entry.ends_at = tostring(now + entry.ttl)
  end
end

local function fade()
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now)) do remove(key, find(key)) end
end

local function keep(ttl)
  longest = math.max(longest, ttl)
  redis.call('HSET', sums, 'used', used, 'pinned', pinned, 'clock', clock, 'longest', longest)
  for _, name in ipairs(KEYS) do redis.call('PEXPIRE', name, longest) end
end

local function answer(entry)
  return {head(entry), entry.text, entry.ends_at}
end
"""

# uses that count, budget, entries, key, text, tokens, pinned, worth, ttl in ms, task state
PUT = (
    _SHARED
    + """
local budget, most, key, tokens = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[6])
fade()
local old = find(key)
local entry = {tokens = tokens, pinned = ARGV[7] == '1' or (old ~= nil and old.pinned), worth = ARGV[8],
               uses = (old and old.uses or 0) + 1, ttl = tonumber(ARGV[9]), task = ARGV[10], text = ARGV[5]}
local pins = pinned - ((old and old.pinned) and old.tokens or 0)
local count = redis.call('HLEN', slots)
if pins + tokens > budget or (not old and count >= most and redis.call('ZCARD', ranks) == 0) then
  keep(0)
  return {'full', tostring(pins)}
end
if old then
  remove(key, old)
  count = count - 1
end
local evicted = {}
while used + tokens > budget or count >= most do
  local last = redis.call('ZRANGE', ranks, 0, 0, 'WITHSCORES')
  clock = math.max(clock, tonumber(last[2]))
  remove(last[1], find(last[1]))
  evicted[#evicted + 1] = last[1]
  count = count - 1
end
used = used + tokens
if entry.pinned then pinned = pinned + tokens end
place(key, entry)
keep(entry.ttl)
return {'put', evicted, tostring(used), entry.uses, entry.pinned and 1 or 0, entry.ends_at}
"""
)

# uses that count, key
GET = (
    _SHARED
    + """
local entry = find(ARGV[2])
if not entry or entry.has_faded then return {} end
entry.uses = entry.uses + 1
place(ARGV[2], entry)
keep(0)
return answer(entry)
"""
)

# uses that count, key, pinned
PIN = (
    _SHARED
    + """
local entry = find(ARGV[2])
if not entry or entry.has_faded then return {} end
if entry.pinned ~= (ARGV[3] == '1') then
  entry.pinned = ARGV[3] == '1'
  pinned = pinned + (entry.pinned and entry.tokens or -entry.tokens)
  place(ARGV[2], entry)
end
keep(0)
return answer(entry)
"""
)

# uses that count, which: 'key', 'task' or 'all', key
CLEAR = (
    _SHARED
    + """
fade()
local cleared = 0
local wanted = ARGV[2] == 'key' and {ARGV[3]} or redis.call('HKEYS', slots)
for _, key in ipairs(wanted) do
  local entry = find(key)
  if entry and (ARGV[2] ~= 'task' or entry.task == '1') then
    remove(key, entry)
    cleared = cleared + 1
  end
end
if redis.call('HLEN', slots) == 0 then redis.call('DEL', unpack(KEYS)) else keep(0) end
return cleared
"""
)

# uses that count
LIST = (
    _SHARED
    + """
local found = {}
for _, key in ipairs(redis.call('HKEYS', slots)) do
  local entry = find(key)
  if not entry.has_faded then found[#found + 1] = {key, unpack(answer(entry))} end
end
return found
"""
)
