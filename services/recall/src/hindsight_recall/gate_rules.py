"""What in a user's turn speaks for or against looking back, as named regular expressions in both languages."""

import re
from collections.abc import Mapping

EN_PUBLIC = (
    r"world cup|olympics?|ice age|eclipse|war|pope|president|king|queen|emperor|prime minister|century|dynasty|"
    r"empire|election|"
    r"pandemic|eruption|super ?bowl|champion\w*|supper|samurai|mohicans|republic|government|generation"
)
ZH_PUBLIC = r"世界杯|奥运|冬奥|欧洲杯|亚运|大选|总统|皇帝|首相|教皇|冰河|冰期|日食|月食|世纪|王朝|朝代|大战|战争|地震|疫情|秘书长"

# Speak for looking back.
FOR: Mapping[str, str] = {
    "reference_back": (
        r"\b(last (time|week|month|night|year|spring|summer|autumn|fall|winter|session|monday|tuesday|"
        r"wednesday|thursday|friday|saturday|"
        r"sunday)|yesterday|earlier|previous(ly)?|as (before|always|ever)|like before|the other (day|week)|"
        r"back then|we (were|had)|"
        r"(you|we|i) (said|told|mentioned|suggested|recommended|talked|discussed|tried|used|made|wrote)|already|so far|"
        r"do you (still )?(remember|recall|have)|remember (when|how|what|the|that|my|our)|remind me)\b"
        r"|上次|上回|上一次|之前|以前|刚才|昨天|昨晚|前天|上周|上个月|上午|去年|前几天|那天|那次|还记得|"
        r"记不记得|来着|当时|当初|"
        r"(你|我|我们|咱们)(说|讲|聊|提|问|讨论|商量|推荐|建议|给)(过|的|到)|跟你(说|提|讲|聊)"
    ),
    "usual": (
        r"\b(usual(ly)?|as always|same (as|way|one|order|again|settings?|format|place|time)|the way (i|we)|"
        r"like (i|we) always|"
        r"my (regular|normal|favou?rite)|our (regular|normal|favou?rite)|normally|i always|we always)\b"
        r"|老样子|照旧|照常|照老|老规矩|老地方|老时间|老时段|跟(以前|之前|上次|去年|上回)一样|一般都?(坐|用|买|"
        r"选)|常(去|喝|听|吃|用|买|点)的|"
        r"我习惯|我平时|我喜欢的|那个牌子|沿用|一贯"
    ),
    "again": (
        r"\b(again|once more|back to|another round|no longer|any more)\b|又(犯|出现|来|坏|失败|到|有|报)|再(来|"
        r"发|给我|看)|还是(不|没|那)"
    ),
    "carry_on": (
        r"\b(continue|carry on|carrying on|pick(ing)? (this |it )?up|resume|keep going|go on with|"
        r"where (were we|we (left|stopped))|"
        r"left off|follow(ing)? up|next (step|chapter|episode|lesson|level|exercise)|what'?s next|the rest|"
        r"the other half)\b"
        r"|继续|接着|往下|后续|跟进|下一(步|章|集|课|关)|剩下的|后来|聊到哪|到哪"
    ),
    "decision": (
        r"\b(decid\w+|settle[ds]?|agree[ds]?|promise[ds]?|chose|choose|go(ne)? for|went (for|with)|conclu\w+|"
        r"plan(ned)? (on|for))\b"
        r"|定(的|下|了|好)|决定|商量|说好|约好|答应|选(的|了|好)|谈好|敲定|否掉|放弃"
    ),
    "state_question": (
        r"\b(has|have|is|are|was|were|did|does|do|will)\b.{1,60}\b(yet|still|now|already|by now)\b|\bany (news|"
        r"word|update|progress|reply)\b"
        r"|^(has|have|did|is|are|was|were) (my|our|the|he|she|it|they|that|this|anyone|anybody|we|i)\b|"
        r"\bhow('s| is| are|'re)\b.{1,40}"
        r"\b(going|doing|coming|getting)\b|\bhow did\b.{1,40}\bgo\b|\bstatus\b"
        r"|了(吗|没|么)|没有？|没有\?|好没|怎么样了|到(哪|货)|进展|进度|还(差|剩|缺|够|有几|有哪|要)|"
        r"什么时候(能|到|取|好)"
    ),
    "own": (
        r"\b(my|our|ours|mine|me|us)\b|\b(should|can|do|did|am|are|have|must|would|could) (i|we)\b|\b(i|we) "
        r"(need|needed|bought|want|like|prefer|use|used|owe|own|have|had)\b|我(的|家|们|妈|爸|女儿|儿子|老婆|"
        r"老公|姐|哥|弟|妹|车)|咱|给我|帮我|我"
    ),
    "one_of_several": (
        r"\b(the|that|those|these) (first|second|third|last|other|next|blue|red|green|long|short|cheaper|new|"
        r"old|small|big|one|ones)"
        r"( (one|two|option|half|part|version|draft|quote|offer))?\b|\bwhich (one|of|two)\b|\bthe (one|thing|"
        r"stuff|bit) (with|i|we|you|that)\b"
        r"|第[一二三四五六七八九十\d]+(个|版|种|家|套|条|项|章|课|段|处)|那(个|件|份|家|位|条|本|只|次|批|版|"
        r"边|款|张|段|几)|哪(家|款|个|两|几|一)|"
        r"另(一|外)|两家"
    ),
    "open_pronoun": (
        r"^(and |so |but |then |ok(ay)?,? )?(it|that|this|those|these|he|she|they|them|his|her|their)\b|"
        r"\b(tell|ask|send|give|call|write|email|reply|answer|invite|remind) (it|him|her|them)\b|"
        r"\b(is|was|did|does|has|will|can|are|were|do|have) (he|she|it|they|that|this|those)\b|\b(it|them|that|"
        r"him|her)[.?!]*$"
        r"|[他她它]|(把|将)这|^(这|那)|不是这个"
    ),
    "errand": (
        r"^(please |can you |could you |now |ok(ay)?,? |then )*(order|book|buy|get|cancel|reschedule|move|send|"
        r"call|text|invite|ask|chase|"
        r"renew|deploy|run|restart|reply|forward|share|add|cross|remove|check|set|schedule|prepare|pack|print|"
        r"sign|submit|rebook|finish|"
        r"update|undo|roll|pay|return|draft|find|plan|recommend|suggest|pick|choose|play|queue|start|log|put|"
        r"fill|plot|merge|push)\b"
        r"|^(请|麻烦|再|快)*(帮|替|给|把|叫|约|订|改|催|回|发|续|放|排|换|买|选|找|预约|取消|安排|提醒|部署|"
        r"回滚|生成|补|推荐|通知)"
    ),
    "came_since": (
        r"\b(i|we|he|she|they)('ve| have)? (finished|tried|got|received|passed|spoke|went|did|picked|lost|"
        r"called|heard|said|agreed|accepted)\b"
        r"|\b(is|are|came|was) (back|here|finally|accepted|rejected|cancelled|over)\b|\bfinally\b|终于|回来了|"
        r"看完了|做完了|拒绝了|同意了|通过了|"
        r"买了|取消了|到货|搞定|弄好"
    ),
    "relative": (
        r"\b(mum|mom|dad|wife|husband|sister|brother|son|daughter|boss|landlord|neighbou?rs?|colleagues?|"
        r"physio|teacher|team|client|"
        r"in-law|grandma|grandpa|vet|dentist|plumber|electrician|reviewer|supplier)('s)?\b"
        r"|妈|爸|老婆|老公|女儿|儿子|姐|哥|弟|妹|外婆|外公|奶奶|爷爷|姥|老板|房东|邻居|同事|客户|导师|班主任|"
        r"物业|甲方|师傅|[老小][王李张刘陈周赵马肖]|[王李张刘陈周赵]"
        r"(工|姐|哥|总|老师|女士|先生)"
    ),
}

# Speak against it.
AGAINST: Mapping[str, str] = {
    "greeting": (
        r"^\W*(hi|hello|hey|good (morning|evening|afternoon|night|day)|morning|bye|goodbye|see you|thanks?|"
        r"thank you|cheers|merry|happy|"
        r"welcome|sorry|congrat\w*|have a)\b[^?]{0,40}\??\W*$|^\W*(你好|您好|早|嗨|哈喽|晚安|再见|拜拜|谢谢|"
        r"多谢|辛苦|新年|生日快乐|祝|抱歉|对不起)[^？?]{0,14}\W*$"
    ),
    "acknowledgement": (
        r"^\W*(yes|no|yep|nope|ok(ay)?|sure|fine|cool|great|nice|got it|never ?mind|stop|wow|haha\w*|hm+|"
        r"perfect|right|alright|exactly|"
        r"good|lol|sounds good)\b[^?]{0,24}$|^\W*(好|好的|嗯+|行|可以|对|不用|不要|算了|没事|知道|明白|哈+|"
        r"等一下|厉害|收到)[^？?]{0,10}$"
    ),
    "material_given": (
        r"[:：]\s*\S.{11,}|```|\n|\{.+\}|[“\"「『].{6,}[”\"」』]|\b(given|suppose|assume|consider) (that|a|the|an)\b|"
        r"\b(this|the following) (text|sentence|code|paragraph|email|list|function|query)\b|下面|下列|以下|"
        r"这(段|句|个)(代码|话|文字)"
    ),
    "general_question": (
        r"^(what('s| is| are| was| were) (a|an|the|inside|\w+ing)\b|who (wrote|invented|was|is|painted|"
        r"discovered|directed|sang|said|won)\b|"
        r"why (is|are|do|does|did|was)\b|how (do|does|did|can|should) (you|one|a|an|the|people|they|i|\w+s)\b|"
        r"which \w+ (is|fits?|holds?|are|has)\b|how (many|tall|long|far|old|deep|fast|big) \w+|"
        r"when (did|was|were) the|explain|define|describe|what does|what do you call|is it (true|safe|ok)|"
        r"tell me about|compare|pros and)\b"
        r"|什么是|是什么(意思|原理|？|\?)?|为什么|怎么(?!样了|还|又|回|定|还没)|如何|(?<!我)该?怎样(?!了)|"
        r"有什么区别|有哪些(？|\?|常见|种)|谁(写|发明|唱|画|导)"
        r"|是谁|解释|介绍一?下|原理|多(高|远|长|大|久)(？|\?)"
    ),
    "public_history": (
        rf"\b(last|previous|first|next|current|former|past|earlier|before)\b.{{0,20}}\b({EN_PUBLIC})\b|"
        rf"\b(before|after|since) (the )?[A-Z\d]"
        rf"|\b(in|of|from|until|by) (1[0-9]|20)\d\d\b|\bbefore christ\b|\bBC\b|(上|前|下)(次|届|一次|一届|一任|"
        rf"任|个)的?({ZH_PUBLIC})|({ZH_PUBLIC})|"
        r"公元|[唐宋元明清汉秦隋]朝|古(代|人)|《.+》"
    ),
    "about_words": (
        r"\b(translate|translation|synonyms?|rhymes?|spell|etymology|grammar|pronounce|in a sentence|proofread|"
        r"rewrite|rephrase|mean(s|ing)?|"
        r"phrase|proverb|verb|tense|adjective|idiom)\b|翻译|翻成|造句|近义词|反义词|同义词|病句|润色|怎么读|"
        r"意思|下一句|出自|成语|英文怎么|怎么写|拼音"
    ),
    "invent": (
        r"\b(write|compose|invent|make up|tell me|create|give me|imagine|brainstorm|generate)\b.{0,16}\b(a|an|"
        r"another|\w+ (names|tips|ideas|facts)"
        r"|some|\d+|five|ten|three) ?(\w+ )?(haiku|poem|limerick|joke|story|riddle|song|names?|tips?|ideas?|"
        r"facts?|tale|slogans?|sonnet|"
        r"essay|template|chorus|prompts?|function|regex|script|query)"
        r"|(写|编|作|讲|来)(一?[首个段篇则])?.{0,8}(诗|俳句|故事|笑话|歌词|作文|谜语|对联|函数|正则|脚本)|"
        r"起个名|取个?名|想[几十\d]"
    ),
    "assistant": (
        r"\b(are you|can you (speak|understand|remember|see|hear)|what can you|who (are you|made you)|"
        r"do you (have|like|speak|dream|feel)|"
        r"how do you (work|store)|your (name|memory|opinion|model))\b|你(是|会|能|叫|有没有|的记忆|喜欢|几岁|觉得自己)"
    ),
    "told": (
        r"^(please |just |can you )?(remember|note|keep in mind|don'?t forget|make a note|for the record|fyi|"
        r"save)\b.{3,}|"
        r"^(i am|i'm|i live|i work|i have|i love|i hate|i like|i prefer|my name|my \w+('s)? (is|are|name)|"
        r"we have|we live|i moved|i started|"
        r"i can'?t stand|call me|i just|i was born|we got|we're)\b[^?]*$"
        r"|^(请|麻烦)?(记住|记一下|帮我记|记下|记个|存一下|跟你说|别忘|备注|注意)|^(我(是|叫|住|今年|不吃|喜欢|"
        r"讨厌|爱|最近|刚|有|开始|在|家有|对)|我们(家|刚)|叫我|比起)[^？?吗呢]*$"
    ),
    "news": (
        r"^(i|we|it'?s|it)( just|'ve| have)? \w+[^?]*[.!]?$|^(今天|今早|昨天|昨晚|刚刚?|最近|终于|明年|下个月|"
        r"我|我们)[^？?吗呢没]{0,20}(了|啦|！|!|。)$"
    ),
    "manner": (
        r"\b(from now on|in short sentences|be (brief|concise|honest|brutally|kind)|answer (in|with|briefly)|"
        r"reply in|speak (more|in)|"
        r"act as|pretend|role-?play|no emojis?|let'?s play|play a game)\b|以后(用|叫|管|都|请|回答)|"
        r"请(一直)?用|说话|别用|扮演|假装|我们来玩|来玩|用(英文|中文|法语)回"
    ),
    "computation": (
        r"\b(convert|how much is|calculate|percent|square root|sort|count the|divided by|times|plus|multiply|"
        r"solve|odd one out|roll (a|two)|"
        r"flip a)\b|\d ?[%+*/×÷=] ?\d*|等于|换算|百分之|排序|排成|平方|乘|除以|几点到|还剩多少$|星期几|掷|抛"
    ),
    "anyone": (
        r"\b(people|someone|one (should|could|can)|tourists?|beginners?|adults?|children|humans?|in general|"
        r"generally|typical(ly)?|average|"
        r"common(ly)?|most)\b|一般(人|来说|是|要)|通常|人们|新手|零基础|人类|成年人|普通人|常见"
    ),
    "computing": (
        r"(?<![a-z])(python|javascript|sql|git|docker|html|css|regex|java|rust|http|linux|bash|vim|excel|react|json|"
        r"yaml|api|kubernetes|typescript)(?![a-z])"
        r"|代码|函数|报错|语法"
    ),
}
RULES = {name: re.compile(pattern, re.IGNORECASE | re.DOTALL) for name, pattern in (FOR | AGAINST).items()}


def find_rules(text: str) -> dict[str, bool]:
    """Each rule's name, and whether it fires on a text."""
    return {name: pattern.search(text) is not None for name, pattern in RULES.items()}
