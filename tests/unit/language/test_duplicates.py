"""Which statements say the same, and which differ in what matters."""

import pytest
from hindsight_language.duplicates import sense

SAME = [
    ("User prefers dark mode.", "The user prefers dark mode"),
    ("User likes dark mode", "user really likes the dark mode!"),
    ("Ada prefers tea", "Ada likes tea"),
    ("Doesn't eat meat", "does not eat meat"),
    ("用户喜欢深色模式。", "用户很喜欢深色模式"),
    ("用户偏好深色模式", "用户喜欢深色的模式！"),
    ("ＡＢＣ 项目", "ABC 项目"),
]

DIFFERENT = [
    ("Ada likes tea", "Ada no longer likes tea"),
    ("Ada likes tea", "Ada doesn't like tea"),
    ("order 17 has shipped", "order 18 has shipped"),
    ("order E4471 has shipped", "order E4472 has shipped"),
    ("the limit is 1.5 GB", "the limit is 15 GB"),
    ("the balance is 5", "the balance is -5"),
    ("it costs $5", "it costs 5"),
    ("Ada likes tea", "Bob likes tea"),
    ("writes C", "writes C++"),
    ("writes C#", "writes C++"),
    ("flies from Paris to Rome", "flies from Rome to Paris"),
    ("flies to Paris from Rome", "flies from Paris to Rome"),
    ("Ada lives in Turin", "Ada lived in Turin"),
    ("Ada likes tea", "Ada likes green tea"),
    ("deploy on Monday", "deploy on Tuesday"),
    ("用户喜欢茶", "用户不喜欢茶"),
    ("用户喜欢茶", "用户不再喜欢茶"),
    ("订单17已发货", "订单18已发货"),
    ("订单17已发货", "订单17未发货"),
    ("张三喜欢茶", "李四喜欢茶"),
    ("张三喜欢茶", "张三喜欢咖啡"),
    ("会议在周一", "会议在周二"),
    ("小王比小李高", "小李比小王高"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_differs_in_form_only_says_the_same(one: str, other: str):
    assert sense(one) == sense(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs_in_substance_does_not_say_the_same(one: str, other: str):
    assert sense(one) != sense(other)
