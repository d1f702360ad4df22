import pytest
from hindsight_ingest.quota import FRESH_S, MIB, Quota
from hindsight_runtime.errors import Overloaded


async def test_who_has_stored_its_share_is_refused_until_there_is_room_again():
    now_s, sizes, measured = [0.0], {1: 2 * MIB, 2: 0}, []

    async def measure(tenant_id: int) -> int:
        measured.append(tenant_id)
        return sizes[tenant_id]

    quota = Quota(2, measure, clock=lambda: now_s[0])
    with pytest.raises(Overloaded) as refused:
        await quota.check(1)
    assert refused.value.retry_after_s == FRESH_S
    for _ in range(3):
        with pytest.raises(Overloaded):
            await quota.check(1)
        await quota.check(2)
    assert measured == [1, 2]
    sizes[1] = MIB
    now_s[0] += FRESH_S + 1
    await quota.check(1)


async def test_no_limit_measures_nothing():
    async def measure(tenant_id: int) -> int:
        raise AssertionError

    await Quota(0, measure).check(1)
