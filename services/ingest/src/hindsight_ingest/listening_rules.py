"""What in a turn tells whether it holds something worth keeping: named regular expressions in both languages."""

import re
from collections.abc import Mapping

from hindsight_language.whole_words import blank_parts

from hindsight_ingest.constraints import find_constraint
from hindsight_ingest.one_time import is_one_time
from hindsight_ingest.standing_rules import RULES as STANDING

SIGNS: Mapping[str, str] = {
    "remember": (
        r"(?:^|[.!,;:] |\b(?:please|pls|can you|could you|you should|i want you to|to) "
        ")(?:remember|keep in mind|bear in "
        r"mind|"
        r"don['’]?t forget)"
        r"(?! (?:to|the attachment|me)\b)|\bkeep (?:this|that|it) in mind\b|\bmake a (?:mental )?note\b|\bnote (?:for "
        r"later|"
        r"to self|this down|that)\b|"
        r"\b(?:save|write|jot|note) (?:this|that|it)(?: down| somewhere)\b|\bfor the record\b|\bthings? to remember\b|"
        r"\bcommit to memory\b|"
        r"请?(?:牢牢)?记(?:住|牢|死|好|着|下来?|一[下笔])(?!了?[吗没])|(?:^|[,，。!！:： ])(?:要|请|"
        r"得)?记得[喔哦啊]?[,，:：]?(?!保存|关|附)|牢记|备忘|备注一下|"
        r"存一下|放(?:在)?心上|别忘(?:了|掉|记)?(?![^,，。]{0,6}附件)|要记得|你得记"
    ),
    "asks_memory": (
        r"\b(?:do|did|can|will|would) (?:you|i|we) (?:still |ever |really )?(?:remember|recall|prefer|like|know|tell)\b|"
        r"\bwhat do you remember\b|"
        r"\bhave i (?:ever )?told\b|还记得|记不记得|跟你说过.{0,12}[没吗]|你平时"
    ),
    "question": (
        r"[?？]\s*$|^(?:who|what|when|where|which|why|how|is|are|do|does|did|has|have|can|could|should|shall|will|would|"
        r"am|was|"
        r"were)\b[^.!]{0,200}$|"
        r"[吗呢呀么没][。.!！~ ]*$|来着|有没有|是不是|是否|要不要|好不好|[到签批发]没[到签批发]|怎么|什么时候|为什么|多少|"
        r"哪[个种里些家]|还是.{1,12}[?？]"
    ),
    "wh": r"^(?:and |so |but |ok,? )?(?:who|what|when|where|which|why|how)\b|^(?:那)?(?:谁|什么|哪|为什么|怎么|咋|几点|多少)",
    "indifferent": (
        r"\bno preference\b|\b(?:don['’]t|do not) (?:really )?(?:mind|care)\b|\beither (?:is|way|works)\b|\bwhatever you like\b|"
        r"没有?(?:什么|特别的?|啥)?(?:偏好|要求|讲究)|无所谓|随便|随你|都[行成可]$|哪个都"
    ),
    "asks_nicely": r"\b(?:could|would|can|will) you\b|\bwould you mind\b|\bplease\b|能不能|可不可以|可以.{0,8}[吗么]|好吗|行吗",
    "closed_question": r"[?？][^?？]{0,3}$",
    "hypothetical": (
        r"^(?:and |but |so )?(?:if|suppose|supposing|imagine|assuming|in case|what if|let['’]?s say|were \w+ to|"
        r"should \w+ \w+ \w+ ?\w*,|had \w+)\b|"
        r"\bif i (?:had|were|was|ever)\b|\bwould (?:be|have)\b|^(?:那)?(?:要是|如果|假如|假设|万一|倘若|若是?|等哪天|真要|"
        r"就算|哪怕)"
    ),
    "uncertain": (
        r"\b(?:maybe|perhaps|might|not sure|no idea|who knows|probably|possibly|hopefully|i "
        "hope|i think i|thinking (?:of|"
        r"about)|could be|"
        r"they say|rumou?r|haven['’]t decided|considering)\b|也许|可能|说不定|不确定|说不好|不一定|谁知道|希望(?!你)|但愿|"
        r"在考虑|打算|好像|大概|估计"
    ),
    "once": (
        r"\b(?:this|just this|that) (?:time|once|one|line|file|paragraph|sentence|letter|mail|e-?mail|chart|recipe|page|"
        r"picture|cell|slide|list)\b"
        r"(?! (?:is|was|of))|\bfor now\b|\b(?:today|tonight|here)[.!]?$|\bfor this\b|这[次回]|今[天晚]|先别|(?:^|把|给|按|"
        r"这)(?:这|刚才)(?:一)?"
        r"[行段张封篇句个份道幅]|本[页行段]|第[一二三四五六七八九十\d]+[段行页题句]|最后一句|上面|下面的|再(?:来|出|举|给)"
    ),
    "lasting": (
        r"\b(?:always|never|ever|every|each|all|any|anything|whatever|whenever|from now on|from here on|in (?:the "
        r")?future|"
        r"going forward|as a rule|"
        r"generally|in general|by default|the default|usually|normally|for good|at all times|no exceptions|any other day|"
        r"for next time|automatically|"
        r"everything|unless i|until i|as always|every time|each time|the rule)\b|以后|今后|往后|从今|从现在|一律|一直|"
        r"永远|每[次回个张封条份月周天]|凡|"
        r"任何|所有|统一|都|总是|向来|从来|长期|默认|一概|下次|平时|一般|尽量|照(?:这个|此|办)|之后|控制在|每一"
    ),
    "forbids": (
        r"^(?:please |pls |kindly |and )?(?:don['’]?t|do not|never|no|not|stop|avoid|nothing|under no)\b|"
        r"\b(?:please )?(?:don['’]?t|never|avoid) \w+ing?\b|"
        r"别(?!的)|不要|不许|不准|不用|少[来放给打]|免了|不能|避开|略过|不得"
    ),
    "likes": (
        r"\bi(?:['’]d| would)? (?:\w+ly |much |always |also |simply |just )?(?:prefer|like|love|hate|dislike|enjoy|adore|"
        r"detest|rather|want|need|can['’]?t (?:stand|bear)|"
        r"don['’]?t (?:like|eat|drink|do|fly|take|want|need|mind)|only (?:eat|drink|fly|use|read)|never|always|usually|"
        r"tend)\b|\bmy (?:favou?rite|usual|preference|rule)\b|"
        r"\b(?:a |an )?\w+ person\b|\bover \w+['’ ]?\w* \w* ?(?:any day|every)|\bnot a fan\b|\ballergic\b|\bwhat i "
        r"(?:like|"
        r"love|want|hate|can)\b|"
        r"我(?:这人|这个人|呢|们)?.{0,6}(?:喜欢|更?爱|偏[向好爱]?|习惯|讨厌|怕|受不了|宁愿|宁可|倾向|坚持|"
        r"只[吃喝用看坐要穿走]|不[吃喝爱接看])|"
        r"过敏|最受不了|更愿意|吃[素辣]|偏[清重]"
    ),
    "manner": (
        r"\b(?:short|brief|concise|plain(?:ly)?|blunt|straight|formal|informal|polite|bullet|emoji|spelling|units?|metric|"
        r"format|tone|language|wording|"
        r"sentences?|answers?|repl(?:y|ies)|summar(?:y|ies)|drafts?|mails?|reports?|recipes?|commit|pull requests?|code|"
        r"tests?|meetings?|flights?|hotels?|"
        r"seats?|tables?|numbers?|prices?|dates?)\b|回答|回复|回我|总结|汇报|邮件|消息|注释|代码|格式|语气|口语|字号|列表|"
        r"表格|日期|金额|报价|提醒|订|"
        r"推荐|安排|挂号|称|落款|英文|中文|繁体|啰嗦|客气|直说|结论|简"
    ),
    "house_rule": (
        r"\b(?:we|our (?:team|house|office|company|firm|customers)|in (?:this|our) (?:house|"
        "lab|office|company|firm|repo|"
        r"codebase))\b.{0,40}"
        r"\b(?:always|never|use|write|say|do(?:n['’]t)?|stick|hate|pay|ship|stay|go(?:es)?)\b|(?:我们|咱们?)(?:组|店|所|"
        r"公司|这|家|单位|系统|"
        r"领导)?[^,，。]{0,12}"
        r"(?:都|一律|统一|不兴|不用|只|要求|就这么)"
    ),
    "gate": (
        r"\b(?:ask|check with|tell|run it past|goes past) me (?:before|first)\b|\bbefore (?:you|i|spending|touching)\b|"
        r"\bwithout (?:asking|my)\b|"
        r"(?:问|给|发|让)我.{0,4}(?:审|过目|点头|确认|再)|没(?:问过|看过)?我?.{0,8}(?:不许|不准|不能|不要)|先问我"
    ),
    "material": (
        r"^(?:please |can you |could you )?(?:translate|proofread|rewrite|rephrase|paraphrase|correct|fix the grammar|"
        r"put this in|conjugate|explain the joke)\b|"
        r"\bhow (?:do|would) (?:you|i) say\b|\b(?:in|of) (?:the|my|a) (?:story|novel|film|movie|book|song|play|lyrics|"
        r"poem|"
        r"dialogue)\b|"
        r"\b(?:lyrics|novel|heroine|dialogue|phrase book|first line|the story starts|my character|the (?:sign|poster|"
        r"captain|"
        r"hero)|sings?)\b|"
        r"翻译|译[成中为]|润色|续写|改写|改成文言|改错|病句|语病|例句|台词|歌词|课文|作文|小说|故事|主角|电影里|海报|"
        r"模拟对话|这句.{0,14}(?:吗|什么|语|台词)|唱的|歌里|为题"
    ),
    "others_say": (
        r"\b(?:colleague|neighbou?r|newspaper|radio|post|uncle|umpire|friend|guy|they|people|article|"
        r"sign)\b.{0,25}\b(?:says?|"
        r"said|claims?|insists?|thinks?|has it)\b|"
        r"\b(?:he|she|they)(?:['’]s| is|['’]re| are) wrong\b|nonsense|rubbish|i (?:disagree|don['’]t buy)|"
        r"(?:同事|婆婆|网上|网红|评论区|老板|法官|广播|朋友|我叔|我哥|新闻)[^,，。]{0,10}(?:说|问|争|觉得)|瞎扯|胡扯|"
        r"不同意|骗谁|不信"
    ),
    "general": (
        r"^(?:most|some|many|people|everybody|everyone|cats|dogs|bees|water|the (?:french|romans|english|germans)|nobody)\b|"
        r"\bin general,|\bcenturies\b|\b(?:1[0-9]|20)\d\d\b|"
        r"^(?:一般人|很多人|大家|人们|猫|狗|古人|蜜蜂|民事)|原名|超集|一般是"
    ),
    "own_slip": (
        r"\b(?:typo|oops|my bad|my mistake|scratch that|never ?mind|wrong (?:window|tab|folder|chat)|ignore (?:my|that|"
        r"what)|"
        r"i meant (?:from|the left)|"
        r"sorry, i|i(?:'d| had)? (?:misread|misheard|was looking|was in|was about)|i wrote \w+, i)\b|我(?:打错|看岔|看错|"
        r"写错|进错|说错|发错|"
        r"是说)|手滑|口误|说反|打错字|发错窗口|当我没说|啊不|算了还是|等等|没事"
    ),
    "progress": (
        r"\b(?:step|page|question|line|part) (?:\d+|one|two|three|four|five|six)\b|\b(?:loading|running now|compiling|"
        r"installing|uploading|downloading|download|percent|"
        r"logged in|clicked|pasted|copied|uploaded|restarted the|refreshed|opened (?:the|it)|scrolled|typed|entered|"
        r"blinking|"
        r"what['’]?s next|what now|"
        r"screenshot|cursor|permission denied|same error|build is green|tests are)\b|"
        r"第[一二三四五六七八九十\d]+[步题页个]|点了|打开了|正在(?!营业)|在跑|卡在|截图|填[到进]|光标|编译|上传|传上去|"
        r"下载|断点|写到|弹了|下一步|粘|"
        r"还剩|验证码|转圈|重启了|水开了|没有权限|提示|报错|装完|输了"
    ),
    "became": (
        r"\b(?:has|have|had|['’]s|['’]ve|got|been|was|were|is|are|get)\s(?:now |just |finally |already |officially |been |"
        r"all |both )*(?:arrived|shipped|delivered|paid|signed|"
        r"refunded|cancel?led|approved|granted|rejected|dismissed|accepted|declined|closed|opened|reopened|merged|released|"
        r"deployed|launched|fixed|repaired|replaced|"
        r"moved|relocated|renamed|retired|archived|revoked|expired|renewed|suspended|terminated|postponed|extended|"
        r"rescheduled|discharged|promoted|hired|fired|"
        r"made redundant|laid off|let go|transferred|upgraded|switched|migrated|sold|bought|born|married|engaged|divorced|"
        r"separated|discontinued|withdrawn|dropped|"
        r"settled|resolved|published|finished|completed|installed|removed|decommissioned|shut|lifted|granted|issued|confirmed|"
        r"elected|appointed|diagnosed|"
        r"flooded|changed|cut|raised|stopped|left|gone|died|quit|resigned|lost|won|passed|failed|graduated|broken|recovered|"
        r"void|bankrupt|in force|live|through|out|"
        r"off|over|dead|down to|fully booked|paid off|handed in)\b"
    ),
    "did": (
        r"\b(?:we|i|they|he|she|it|mum|dad|mom|who|\w+)(?: (?:finally|just|officially|also|all|both))? (?:shipped|signed|"
        r"moved|relocated|switched|sold|bought|quit|resigned|left|hired|fired|cancel?led|"
        r"closed|opened|merged|released|deployed|launched|dropped|won|lost|passed|failed|retired|died|renewed|raised|"
        r"stopped|"
        r"divorced|married|got|gave up|"
        r"handed in|changed|accepted|approved|rejected|refused|granted|paid|refunded|delivered|arrived|landed|came "
        r"(?:through|"
        r"down|in)|turned up|went (?:live|up|down|out|through|bankrupt)|"
        r"ran out|walked out|broke|pulled the plug|fell through|tore down|rolled|started|merged|postponed|extended|"
        r"decided|"
        r"confirmed|ruled|threw|split up|published|released|withdrew|backed out)\b"
    ),
    "terse_done": (
        r"^\W*(?:the |my |our )?[\w' -]{2,30} (?:signed|paid|merged|shipped|sold|delivered|approved|fixed|gone|done for|"
        r"cancelled|canceled|closed|over|out|live|booked|finished)\b"
    ),
    "no_longer": (
        r"\bno longer\b|\bany ?more\b|\bnot any\b|\b(?:gave|given) up\b|\bstopped (?:with |\w+ing)|\bused to\b|\bdropped\b|"
        r"不再|再也不|戒|停[了用产机诊]|作废|下线|下架|退[租订役休]|注销|不[^,，。]{1,6}了(?:$|[,，。!！])"
    ),
    "since_then": (
        r"\b(?:as of|since (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|"
        r"july|august|september|october|november|december|"
        r"last|this|the|noon)|from \w+ on|these days|now|in force|in effect|official(?:ly)?|at last|finally|update|fyi|"
        r"last (?:night|week|month)|yesterday|this morning)\b|"
        r"已经?|正式|目前|现在|起[,，住]|昨[晚天儿夜]|今早|上[个]?[周月]|总算|终于|从今|刚刚?(?!才)"
    ),
    "became_zh": (
        r"(?:发货|签收|到货|到账|付款|付清|打过去|结清|还清|放行|撤销|撤诉|撤了|上线|上架|下架|"
        "下线|发布|发版|合[进并了]|"
        r"修好|修完|部署|通过|驳回|批[了下准]|批下来|办[妥完好下]|"
        r"签[了完好字]|续[到签租]|转让|过户|搬[到来走进了]|换[成了到号上]|改[成到吃用签]|升[了级职为]|调[去到任]|辞|离职|"
        r"走人|裁|录取|转正|退休|毕业|考[上过到]|出院|确诊|怀孕|生了|领证|"
        r"结的?婚|离婚|分手|去世|走了|没了|病故|倒闭|关门|停产|停业|营业|开业|完工|竣工|交付|验收|结案|判决|判|上诉|立案|"
        r"取消|延后|推迟|提前|改期|涨[到了价]|降[到了价]|砍|黄了|"
        r"搁置|启动|中标|到手|请到|招到|买了|卖[掉了]|坏了|报废|死|拔光|全军覆没|拆了|恢复|冻结|清零|收摊|订满|合并|转学|"
        r"转[到入]|赔|拿到|寄到|发出|送到|送达|到齐|交了|交上去|解决)"
    ),
    "life": (
        r"\b(?:married|engaged|divorced|pregnant|born|baby|died|passed away|retired|hired|resigned|quit my|new job|promoted|"
        r"graduated|degree|exam|driving test|surgery|"
        r"discharged|diagnosed|smoking|drinking|moved|house|flat|lease|visa|passport|licen[cs]e|mortgage|loan)\b|"
        r"结婚|领证|离婚|怀孕|出院|手术|房子|租约|签证|护照|驾照|贷款|房贷|工作|单位|学校|公司|爸|妈|爷|奶|儿子|女儿|老婆|老公"
    ),
    "not_yet": (
        r"\b(?:hasn['’]t|haven['’]t|isn['’]t|aren['’]t|not yet|still (?:not|waiting|hasn)|no news|nothing has)\b|还没|"
        r"没[^,，。]{0,4}(?:呢|消息|变化)|没收到|未[^来]|老样子"
    ),
    "mood": (
        r"\b(?:tired|sleepy|starving|hungry|bored|grumpy|nervous|slept|sneezed|weather|rain|snow\w*|sun|windy|hot|cold|"
        r"freezing|coffee|tea|lunch|pizza|traffic|film|match|game|"
        r"series|mood|joke|lol|haha|wow|phew|brr|ugh|yay|bus|monday|friday|weekend|song|cat|neighbour['’]?s?)\b|"
        r"[饿困累热冷烦爽]|天气|下雨|太阳|月亮|午饭|奶茶|咖啡都|哈哈|嘿嘿|开心|无聊|堵|喷嚏|外卖|食堂|同事在|电梯|心情|"
        r"好看|笑死|加油|刚才|今儿|地铁|高架|下班"
    ),
    "thanks": (
        r"\b(?:thanks?|thank you|cheers|ta|hi|hello|hey|good (?:morning|evening|afternoon)|bye|see you|welcome|you['’]re (?:a|"
        r"the)|well done|great|brilliant|awesome)\b|"
        r"谢|感恩|辛苦|你好|您好|早[啊上安]|晚[上安]好?|拜|再见|收到|客气|厉害|棒|聪明"
    ),
    "agrees": (
        r"^(?:yes|yep|yeah|ok(?:ay)?|fine|good|great|perfect|nice|right|sure|exactly|sounds|excellent|cool|of course|got it|"
        r"lovely|correct|thanks?|done)\b|"
        r"^(?:好|行|可以|嗯|对[,，!！对的]|成|没错|没问题|没毛病|是的|懂|哦|继续|就这|不错)"
    ),
    "denies": (
        r"^(?:no|nope|nah|wrong|incorrect|not|careful|sorry,? but)\b|^(?:不对|不是|错|不|没有?说|哪|谁)|^\W*(?:唔|欸|"
        r"哎)?[^,，。]{0,2}不[对是]"
    ),
    "declines": (
        r"^(?:no|nope),? (?:thanks?|thank|need|worries|problem|that['’]s (?:all|fine|it|ok)|no|rush|leave|wait|hurry|more)|"
        r"^not (?:now|yet|really|sure|bad|today)|"
        r"^(?:不用|不要了|没事|不了|不急|没啦?|算了|不[,，])"
    ),
    "should": (
        r"\b(?:should|must|supposed to|needs to|ought to) (?:not )?(?:be|have|go|say|read)\b|\bshould(?:n['’]t)? have\b|应[该当]|"
        r"才[对是够开算收]|得[是按走用]|不该"
    ),
    "you_erred": (
        r"\byou(?:['’]ve| have|['’]re| are)? (?:\w+ )?(?:got|had|used|took|swapped|mix(?:ed|ing)|misread|misheard|"
        r"confus\w+|"
        r"count\w+|forgot|forgetting|keep|thinking|removed|copied|wrote|"
        r"were(?:n['’]t)?|have me|put|sent|picked|added|read)\b|\byour (?:sum|information|figure|date|source)\b|"
        r"[你您](?:又|怎么|老|再)?(?:看|数|写|记|弄|搞|算|少|多|漏|听|拿|推|放|读|翻|只看)|"
        r"[看数写记弄搞算听放归删发填拿用]错|搞反|反了|弄混|记混"
    ),
    "i_said": (
        r"\bi (?:said|meant|asked|told|wrote|wanted|was talking|never said|didn['’]t (?:say|ask|mean)|want\b)|\bas i (?:said|"
        r"told|wrote)\b|"
        r"我(?:可)?(?:没)?(?:说|要|让你|指|讲|退|问)的?(?:是|过|不是)?|跟你说过|跟你讲过|意思"
    ),
    "wrong": (
        r"\b(?:wrong|incorrect|not right|not correct|mistake\w*|mixed up|out of date|other way (?:round|around)|opposite|"
        r"off by|mis\w+ed)\b|错|不对|反了|过期|弄混|倒过来"
    ),
    "not_but": (
        r"\bnot (?:the |an? |in |on |at |from |for )?[\w.'’-]{1,20}(?: \w+)?[.!,;)]*$|, not \w|\bnot \w+[,;:] |"
        r"不是[^,，。]{1,12}[,，。]|[,，]不是|不是.{1,8}[,，]?是|而是"
    ),
    "actually": r"\bactually\b|\bin fact\b|其实|明明|本来就|压根|啦$|呀$|吧你|哈[,，]",
    "look_again": (
        r"\b(?:look|read|check|have a look)\b.{0,12}\b(?:again|closer|at|the)\b|\bread (?:it|that|clause|my)\b|\bsays\b|"
        r"\bprinted\b|再看|看一眼|翻一下|写着|写的是?|上有|白纸黑字|名单|条款"
    ),
    "request": (
        r"^(?:please |pls |ok |and |now |then |yes,? )*(?:add|book|change|check|convert|copy|cut|delete|draft|explain|"
        r"fetch|"
        r"find|fix|format|give|keep|leave|list|look|make|mail|"
        r"move|open|order|print|put|read|remove|rename|run|save|say|send|set|shorten|show|sort|start|summari[sz]e|swap|"
        r"take|"
        r"tell|try|turn|use|write|do|remind|ask|let['’]?s)\b|"
        r"\b(?:can|could|would|will) you\b|\bi(?:['’]d| would) like (?:to|the|a)\b|\bplease\b|帮我|请(?!到|假)|麻烦|"
        r"^(?:把|给|按|换|加|再|"
        r"用|查|看|问|写|订|发|打开|教)|一下"
    ),
    "exclaims": r"[!！]{1,}|🎉|❤|😭|😅",
    "introduces": (
        r"\b(?:called|named|name is|name['’]s|we call|nicknamed|labelled|internal name|introduce|carries the number|"
        r"this is my|meet)\b|叫|名字|姓|全名|代号|取名|招牌|店名|介绍|管它|称呼"
    ),
    "kin": (
        r"\b(?:my|our|his|her) (?:\w+ ){0,2}(?:sister|brother|husband|wife|partner|son|daughter|mother|father|mum|dad|"
        r"gran|"
        r"aunt|uncle|cousin|friend|mate|colleague|boss|manager|"
        r"flatmate|neighbou?r|dog|cat|mare|teacher|dentist|doctor|solicitor|lawyer|landlord|supplier|client|team|school|"
        r"project|service|shop)\b|"
        r"妹|姐|哥|弟|先生|老公|老婆|媳妇|闺女|儿子|女儿|外婆|奶奶|爷|同事|同学|老师|师傅|律师|经理|合伙人|朋友|发小|猫|"
        r"狗|供应商|供货商|客户|项目|公司|店|仓库|服务"
    ),
    "number_given": (
        r"\b(?:order|ticket|invoice|booking|ref(?:erence)?|tracking|case|claim|contract|"
        "part|serial|account|customer|"
        r"member(?:ship)?|rma|flight|number|no|dataset|policy)\b\W{0,3}(?:no\.?|number|is|nr\.?|#)? ?[\w/-]*\d|"
        r"(?:单号|编号|订单|工单|发票|病[历案]号?|保单|退货单|型号|航班|车牌|预[订定]码?号?|凭证|快递|序列号|采购单|"
        r"理赔单|合同编号|单)[^,，。]{0,4}[A-Za-z\d]"
    ),
}
# Named beside a finding where they fire, the most telling first.
FOR: Mapping[str, tuple[str, ...]] = {
    "preference": ("gate", "forbids", "lasting", "likes", "house_rule", "manner"),
    "state": ("became", "became_zh", "no_longer", "did", "terse_done", "life", "since_then"),
    "correction": ("denies", "you_erred", "i_said", "wrong", "not_but", "should", "actually", "look_again"),
    "entity": ("number_given", "introduces", "kin"),
}
_DONE = (
    r"shipped|dispatched|delivered|arrived|paid|refunded|cancel?led|approved|granted|rejected|signed|merged|released|deployed|"
    r"closed|resolved|returned|terminated|renewed|expired|postponed|completed|withdrawn"
)
_THING = (
    r"order|parcel|package|shipment|delivery|invoice|refund|ticket|contract|lease|claim|booking|reservation|application|permit|"
    r"visa|licen[cs]e|project|release|request|case|payment|subscription|appeal|grant"
)
_DONE_ZH = (
    r"发货|签收|送达|送到|到货|付款|付清|退款|取消|批准|通过|驳回|签署|签字|合并|发布|上线|下线|下架|部署|"
    r"关闭|解决|退货|终止|续签|到期|延期|完成|"
    r"完工|结案|撤销|出库|到账"
)
_THING_ZH = (
    r"订单|包裹|快递|货|发票|退款|工单|合同|租约|理赔|预订|预约|申请|许可|签证|项目|版本|案子|案件|款项?|会员|"
    r"上诉|[A-Za-z]+-?\d{3,}"
)
# Enough by themselves where nothing in AGAINST shows.
SURE: Mapping[str, Mapping[str, str]] = {
    "state": {
        "came_to": (
            rf"\b(?:{_THING})\b[^.!?]{{0,40}}\b(?:has|have|is|was|were|been|got|['’]s) (?:now |just |already |finally |"
            rf"been )*(?:{_DONE})\b"
        ),
        "came_to_zh": rf"(?:{_THING_ZH})[^,，。!！?？]{{0,16}}(?:已经?|刚刚?|被|正式)(?:{_DONE_ZH})",
        "next_stage": (
            r"\b(?:has|have|is|['’]s) (?:now )?(?:moved|gone|entered)(?: on)?(?: in)?(?:to)? (?:the )?\w+(?: (?:phase|stage)|"
            r"ing\b)|"
            r"(?:进入|转入)[^,，。]{0,8}阶段"
        ),
    },
    "correction": {
        "no_but": (
            r"^(?:no|nope|wrong|incorrect)[,.!:;]+ ?(?:(?:it|that|this|he|she|they|the \w+) "
            r"(?:should|must|is (?:not|on|in|at|for))\b|"
            r"i (?:said|meant|asked)\b|it['’]s (?:on|in|at|for|not)\b)|"
            r"^(?:不对|错了|不是)[,，。!！ ]+(?:应该|应当|要|得|是|我[说要指])"
        ),
        "that_is_wrong": (
            r"^(?:no, )?(?:that|this|it)(?:['’]s| is| was) (?:wrong|incorrect|not (?:right|correct|what i))|"
            r"^you(?:['’]ve| have)? (?:misread|misunderst|got .{1,30} wrong)|"
            r"^(?:你|您)(?:搞|弄|写|看|算|记|填|发|听|理解)(?:错|反|混)"
        ),
    },
    "preference": {
        "taste": (
            r"^(?:(?:and|but|also|well|so|btw|fyi|oh),? )*(?:i|we)"
            r"(?: really| absolutely| much| always| still| generally| usually| personally| do)*"
            r"(?: (?:don['’]?t|do not|no longer|never)(?: really)?)? "
            r"(?:like|enjoy|prefer|hate|dislike|adore|love|can['’]?t stand|cannot stand)\b"
            r"(?! (?:it|this|that|these|those|him|her|them|you|your|how|what|to (?:know|ask|say|see|think|hear)|when|"
            r"the (?:first|second|third|last|other|left|right|new|old|one)|\w+days?\b))[^?]*$"
        ),
        "taste_zh": (
            r"^(?:我|本人)(?:们)?(?:不再|不|很|特别|最|更|比较|一直|从小就|平时|还是|真的|超|挺|都|就)*"
            r"(?:喜欢|爱吃|爱喝|爱看|讨厌|偏好|受不了|不吃|不喝|习惯用)(?!这|那|你|它|他|她|上|了|完)[^?？吗]*$"
        ),
        "from_now_on": (
            r"^(?:(?:please|ok|okay|so),? )?(?:from now on|going forward|in (?:the )?future)\b[^?]*$|"
            r"^(?:从现在起|以后|今后|往后)[,，]?[^,，。?？吗]{0,12}?(?:都|请(?!假|客|帖|柬|教)|给我|帮我|别|不要|一律|统一|只能?|回[答复])[^?？吗]*$"
        ),
        "always": (
            r"^(?:please )?(?:always|never) (?:use|send|put|write|keep|ask|include|show|call|make|run|commit|book|add|answer|"
            r"reply|give|format|address|sign|check)\b[^?]*$"
        ),
    },
    "entity": {},
}
# Where one of them shows, a trigger's head is not asked.
AGAINST: Mapping[str, tuple[str, ...]] = {
    "preference": ("material", "indifferent"),
    "state": ("material", "hypothetical", "uncertain", "closed_question", "not_yet", "asks_memory"),
    "correction": ("material", "hypothetical", "closed_question", "own_slip"),
    "entity": ("material", "hypothetical", "asks_memory"),
}
RULES = {name: re.compile(pattern) for name, pattern in SIGNS.items()}  # of a text in small letters
CERTAIN = {
    trigger: {name: re.compile(pattern, re.IGNORECASE) for name, pattern in rules.items()} for trigger, rules in SURE.items()
}
_AGREES = re.compile(
    r"(?:it (?:is|does|was)(?=[,.!])|(?:yes|yeah|yep|exactly|that['’]s right|true|agreed|indeed)\b|"
    r"是啊|是的|是呀|对[的啊呀]|对[，,。]|没错|可不是|嗯[嗯，,。])"
    r"(?!.*\b(?:but|not|wrong|except|instead)\b|.*(?:但|不过|不是|不对|错|改))",
    re.IGNORECASE | re.DOTALL,
)
_AFFECT = re.compile(
    (
        r"\b(?:love|hate|never|always|can['’]?t (?:stand|bear)|allergic|really|mean it|important)\b|!!|！！|"
        r"最(?![近后终初新早晚多少])|讨厌|受不了|过敏|千万|绝对|"
        r"永远|重要|😭|❤"
    ),
    re.IGNORECASE,
)


def agrees(text: str) -> bool:
    """Whether a text begins by agreeing and contradicts nothing after it: no correction, whatever it adds."""
    return _AGREES.match(text) is not None


def find_rules(text: str) -> dict[str, bool]:
    """Each sign's name, and whether it shows in a text."""
    text = blank_parts(text)
    small = text.lower()
    return {name: pattern.search(small) is not None for name, pattern in RULES.items()} | {
        f"standing_{name}": pattern.search(text) is not None for name, pattern in STANDING.items()
    }


def is_ruled_out(trigger: str, text: str, fired: Mapping[str, bool]) -> bool:
    """Whether a sign forbids a trigger, whatever its head says."""
    if trigger == "preference" and find_constraint(text):
        return fired["material"]  # whatever is asked beside it, today or for a day
    if trigger == "preference" and (is_one_time(text) or (fired["closed_question"] and not fired["asks_nicely"])):
        return True
    return any(fired[name] for name in AGAINST[trigger])


def find_sure(trigger: str, text: str) -> str:
    """The rule that is enough for a trigger by itself; empty where none fires."""
    if trigger == "preference" and (rule := find_constraint(text)):
        return rule
    text = blank_parts(text)
    return next((name for name, pattern in CERTAIN[trigger].items() if pattern.search(text)), "")


def has_affect(text: str) -> bool:
    """Whether a text says how much something matters."""
    return _AFFECT.search(text) is not None or find_constraint(text) != ""
