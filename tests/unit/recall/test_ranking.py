"""Ranking: scores that add up, ties, standing places, history, floors."""

import pytest
from hindsight_recall.ranking import Finding, Importance, Limits, Measured, Weights, rank, score, total
from hindsight_recall.receipts import nearest_misses
from hindsight_recall.reranking import with_relevances

WEIGHTS = Weights()


def measured(name: str, dense: float, **fields) -> Measured:
    """A memory of which one thing is known."""
    return Measured(name, {"dense": dense}, fields.pop("importance", Importance(0.5)), **fields)


def names(places) -> list[str]:
    return [place.measured.id for place in places]


def test_a_final_score_is_the_sum_of_its_parts():
    place = score(Measured("m", {"dense": 0.8, "lexical": 0.5, "unheard of": 9.0}, Importance(0.5, 1.1, 0.9, 1.2)), WEIGHTS)
    assert [(c.feature, c.value) for c in place.contributions] == [("dense", 0.8), ("lexical", 0.5)]
    assert place.similarity == pytest.approx(total(place.contributions)) == pytest.approx(0.8 * 0.5 + 0.5 * 0.4)
    assert place.final_score == pytest.approx(0.7 * place.similarity + 0.3 * 0.5 * 1.1 * 0.9 * 1.2)


def test_similarity_and_importance_stay_within_0_and_1():
    place = score(Measured("m", {"dense": 9.0}, Importance(0.9, 1.1, 1.0, 3.0)), WEIGHTS)
    assert (place.similarity, place.final_score) == (1.0, 1.0)
    assert score(measured("m", -3.0, importance=Importance(0.0)), WEIGHTS).final_score == 0.0


def test_ties_break_by_unclamped_similarity_and_then_by_id():
    answer, _ = rank([measured("b", 2.5), measured("a", 2.5), measured("c", 3.0)], WEIGHTS, Limits(3))
    assert names(answer) == ["c", "a", "b"]


def test_the_order_of_the_input_changes_nothing():
    several = [measured(f"m{n}", n % 3 / 3, standing=["", "instruction", "preference"][n % 3]) for n in range(12)]
    assert rank(several, WEIGHTS, Limits(10)) == rank(several[::-1], WEIGHTS, Limits(10))


def test_what_is_below_the_floor_is_a_near_miss():
    answer, near = rank([measured("in", 0.8), measured("out", 0.5)], WEIGHTS, Limits(5, floor=0.3))
    assert (names(answer), names(near)) == (["in"], ["out"])


def test_a_judged_similarity_stays_on_its_scale_and_falls_where_the_model_finds_nothing():
    weights = WEIGHTS.reranked()
    plain = {"dense": 0.8, "lexical": 0.6, "coverage": 1.0}
    before = score(Measured("m", plain, Importance(0.5)), WEIGHTS).similarity
    judged = {r: score(Measured("m", {**plain, "rerank": r}, Importance(0.5)), weights).similarity for r in (0.0, 0.5, 1.0)}
    assert judged == {r: pytest.approx(0.5 * before + 0.5 * r) for r in (0.0, 0.5, 1.0)}
    assert score(Measured("m", plain, Importance(0.5)), weights).similarity == judged[0.0]
    assert sum(weights.memory[f] for f in ("dense", "lexical", "coverage", "rerank")) == pytest.approx(1.0)
    turn = Measured("s#1", {"dense": 1.0, "question": 1.0, "rerank": 1.0}, Importance(0.5), is_turn=True)
    assert score(turn, weights).similarity == pytest.approx(0.5 * (0.42 - 0.08) + 0.5)


def test_weights_without_a_reranking_model_are_what_they_are_when_one_has_judged():
    assert WEIGHTS.without("rerank").reranked() == WEIGHTS.without("rerank")


def test_relevances_become_features_and_findings_and_ties_break_by_id():
    several = [measured(name, 0.5, findings=(Finding("content", 2, 0.9),)) for name in ("a", "b", "c", "d")]
    found = with_relevances(several, {"b": 0.4, "a": 0.4, "c": 0.9})
    assert [m.features.get("rerank") for m in found] == [0.4, 0.4, 0.9, None]
    assert [[(f.channel, f.rank) for f in m.findings] for m in found] == [
        [("content", 2), ("rerank", 2)],
        [("content", 2), ("rerank", 3)],
        [("rerank", 1), ("content", 2)],
        [("content", 2)],
    ]


def standing_bank() -> list[Measured]:
    topical = [measured(f"t{n}", 0.9 - n / 100) for n in range(12)]
    rules = [measured(f"i{n}", 0.1 - n / 100, standing="instruction") for n in range(3)]
    return [*topical, *rules, *(measured(f"p{n}", 0.1 - n / 100, standing="preference") for n in range(3))]


def test_of_ten_places_three_go_to_what_stands_behind_seven_of_the_topic():
    answer, _ = rank(standing_bank(), WEIGHTS, Limits(12))
    assert names(answer) == [*(f"t{n}" for n in range(7)), "i0", "p0", "i1", "t7", "t8"]
    assert [p.reason for p in answer] == [*["topic"] * 7, *["standing"] * 3, *["topic"] * 2]
    assert names(rank(standing_bank(), WEIGHTS, Limits(7))[0]) == ["t0", "t1", "t2", "t3", "t4", "i0", "p0"]


def test_of_five_places_the_last_goes_to_what_stands_and_of_two_none():
    assert names(rank(standing_bank(), WEIGHTS, Limits(5))[0]) == ["t0", "t1", "t2", "t3", "i0"]
    assert names(rank(standing_bank(), WEIGHTS, Limits(2))[0]) == ["t0", "t1"]
    assert names(rank(standing_bank(), WEIGHTS, Limits(5, wants_standing=False))[0]) == ["t0", "t1", "t2", "t3", "t4"]


def test_what_stands_passes_the_floor_and_is_not_repeated_where_the_topic_has_it():
    bank = [measured("rule", 0.9, standing="instruction"), measured("fact", 0.8), measured("taste", 0.0, standing="preference")]
    assert names(rank(bank, WEIGHTS, Limits(5, floor=0.3))[0]) == ["rule", "fact", "taste"]


def test_an_older_statement_stands_right_behind_the_newer_one():
    bank = [
        measured("old", 0.9, behind="new"),
        measured("other", 0.7),
        measured("new", 0.5),
        measured("orphan", 0.6, behind="gone"),
    ]
    answer, _ = rank(bank, WEIGHTS, Limits(4))
    assert names(answer) == ["other", "orphan", "new", "old"]
    assert answer[3].reason == "history"


def test_weights_can_be_switched_off():
    both = Measured("m", {"dense": 0.8, "lexical": 0.5}, Importance(0.5))
    assert score(both, WEIGHTS.without("lexical")).similarity == pytest.approx(0.4)


def test_what_a_near_miss_stands_behind_is_kept_with_it_so_that_a_replay_is_the_same():
    several = [measured(f"m{n:03}", 1 - n / 100) for n in range(60)]
    several += [measured("old", 0.9999, behind="new"), measured("new", 0.01)]
    answer, near = rank(several, WEIGHTS, Limits(5))
    kept = [place.measured for place in (*answer, *nearest_misses(near))]
    assert len(kept) < 30
    assert rank(kept, WEIGHTS, Limits(5))[0] == answer
