"""The scripts of a desk, which Redis runs: each reads the clock, lets go what has faded, and does one act whole.

KEYS: entries, priorities, ends. Priorities and ends are of what is not pinned. In each the empty key, which no entry has, stands
for the desk itself: it keeps the three alive together, and in the entries it holds the sums. ARGV: how many uses count, a key,
and what the script names.
"""

_SHARED = """
local slots, ranks, ends = KEYS[1], KEYS[2], KEYS[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function parse(slot)
  if not slot then return nil end
  local tokens, pin, worth, uses, ttl, task, ends_at, text = string.match(slot, '^(%d+) (%d) (%S+) (%d+) (%d+) (%d) (%d+) (.*)$')
  return {tokens = tonumber(tokens), pinned = pin == '1', worth = worth, uses = tonumber(uses), ttl = tonumber(ttl), task = task,
          ends_at = tonumber(ends_at), text = text}
end

local function head(entry)
  local pin = entry.pinned and 1 or 0
  return string.format('%d %d %s %d %d %s %d ', entry.tokens, pin, entry.worth, entry.uses, entry.ttl, entry.task, entry.ends_at)
end

-- acts: how many entries were placed; lasts: until when the keys are kept at least; soonest: when the first entry may fade
local found = redis.call('HMGET', slots, '', ARGV[2])
local used, pinned, count, clock, acts, longest, lasts, soonest = 0, 0, 0, 0, 0, 0, 0, math.huge
if found[1] then used, pinned, count, clock, acts, longest, lasts, soonest = unpack(cmsgpack.unpack(found[1])) end

local function keep(...)
  local sums = cmsgpack.pack({used, pinned, count, clock, acts, longest, lasts, soonest})
  redis.call('HSET', slots, '', sums, ...)
end

local function remove(key, entry)
  redis.call('HDEL', slots, key)
  redis.call('ZREM', ranks, key)
  redis.call('ZREM', ends, key)
  used, count = used - entry.tokens, count - 1
  if entry.pinned then pinned = pinned - entry.tokens end
end

local function place(key, entry)
  acts = acts + 1
  if entry.pinned then
    redis.call('ZREM', ranks, key)
    redis.call('ZREM', ends, key)
    entry.ends_at = 0
  else
    entry.ends_at = now + entry.ttl
    local lead = entry.worth * math.min(entry.uses, tonumber(ARGV[1])) + acts * 1e-9  -- among equals the last used leaves last
    redis.call('ZADD', ranks, clock + lead, key)
    redis.call('ZADD', ends, entry.ends_at, key)
    soonest = math.min(soonest, entry.ends_at)
  end
  longest = math.max(longest, entry.ttl)
  if lasts >= now + longest then return keep(key, head(entry) .. entry.text) end
  if lasts == 0 then
    redis.call('ZADD', ranks, '+inf', '')
    redis.call('ZADD', ends, '+inf', '')
  end
  lasts = now + longest + 60000
  keep(key, head(entry) .. entry.text)
  for _, name in ipairs(KEYS) do redis.call('PEXPIREAT', name, lasts) end
end

if soonest <= now then
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now)) do remove(key, parse(redis.call('HGET', slots, key))) end
  soonest = tonumber(redis.call('ZRANGE', ends, 0, 0, 'WITHSCORES')[2]) or math.huge
  keep()
  found[2] = redis.call('HGET', slots, ARGV[2])
end
"""

# uses that count, key, text, tokens, pinned, worth, ttl in ms, task state, budget, entries
PUT = (
    _SHARED
    + """
local key, tokens, budget, most = ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[9]), tonumber(ARGV[10])
local old = parse(found[2])
local pins = pinned - ((old and old.pinned) and old.tokens or 0)
if pins + tokens > budget or (not old and count >= most and redis.call('ZCARD', ranks) == 1) then return {'full', pins} end
local entry = {tokens = tokens, pinned = ARGV[5] == '1' or (old ~= nil and old.pinned), worth = ARGV[6],
               uses = (old and old.uses or 0) + 1, ttl = tonumber(ARGV[7]), task = ARGV[8], text = ARGV[3]}
if old then
  used, count = used - old.tokens, count - 1
  if used + tokens > budget then redis.call('ZREM', ranks, key) end
end
local evicted = {}
while used + tokens > budget or count >= most do
  local last = redis.call('ZRANGE', ranks, 0, 0, 'WITHSCORES')
  clock = math.max(clock, tonumber(last[2]))
  remove(last[1], parse(redis.call('HGET', slots, last[1])))
  evicted[#evicted + 1] = last[1]
end
used, count = used + tokens, count + 1
pinned = pins + (entry.pinned and tokens or 0)
place(key, entry)
return {head(entry), used, evicted}
"""
)

# uses that count, key
GET = (
    _SHARED
    + """
local entry = parse(found[2])
if not entry then return {} end
entry.uses = entry.uses + 1
place(ARGV[2], entry)
return {head(entry), entry.text}
"""
)

# uses that count, key, pinned
PIN = (
    _SHARED
    + """
local entry = parse(found[2])
if not entry then return {} end
if entry.pinned ~= (ARGV[3] == '1') then
  entry.pinned = ARGV[3] == '1'
  pinned = pinned + (entry.pinned and entry.tokens or -entry.tokens)
  place(ARGV[2], entry)
end
return {head(entry), entry.text}
"""
)

# uses that count, key, or empty for all, whether only task state
CLEAR = (
    _SHARED
    + """
local cleared = 0
for _, key in ipairs(ARGV[2] ~= '' and {ARGV[2]} or redis.call('HKEYS', slots)) do
  local entry = key ~= '' and parse(redis.call('HGET', slots, key))
  if entry and (ARGV[3] == '0' or entry.task == '1') then
    remove(key, entry)
    cleared = cleared + 1
  end
end
if cleared > 0 and count == 0 then redis.call('DEL', unpack(KEYS)) elseif cleared > 0 then keep() end
return cleared
"""
)

# uses that count, an empty key
LIST = (
    _SHARED
    + """
local listed = {}
local all = redis.call('HGETALL', slots)
for at = 1, #all, 2 do
  local entry = all[at] ~= '' and parse(all[at + 1])
  if entry then listed[#listed + 1] = {all[at], head(entry), entry.text} end
end
return listed
"""
)
