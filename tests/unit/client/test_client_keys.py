"""What keys the client takes."""

import pytest
from hindsight_memory import Hindsight, HindsightError


@pytest.mark.parametrize("api_key", ["hs_…", "密钥", "hs_a\nb", "hs_a b"])
async def test_a_key_that_no_header_can_carry_is_refused_by_name(api_key: str):
    with pytest.raises(HindsightError) as refusal:
        Hindsight(api_key=api_key)
    assert (refusal.value.code, refusal.value.reason, list(refusal.value.fields)) == (
        "INVALID_ARGUMENT",
        "INVALID_FIELD",
        ["api_key"],
    )
    async with Hindsight(api_key="hs_a\n") as client:  # as a file ends
        with pytest.raises(HindsightError):
            client.with_key(api_key)
