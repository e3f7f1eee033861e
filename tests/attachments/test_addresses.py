"""Addresses that are not read: of networks of one's own, and those that hold a key."""

from __future__ import annotations

import pytest

from jupyter_ctx import InvalidRequestError
from jupyter_ctx.attachments.attached import Attached, TextRoom
from jupyter_ctx.attachments.web_pages import Address
from jupyter_ctx.attachments.web_pages import attached_address as attached
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.testing import count_characters


def attached_address(address: str) -> Attached:
    return attached(Address(address), Redactor(), TextRoom(2_000, count_characters))


UNREACHABLE = (
    "localhost 127.0.0.1 10.0.0.3 192.168.1.4:8888 169.254.169.254 [::1] [fd00::1] nas nas.local db.internal 127.1 "
    "0x7f.1 2130706433 localhost."
)


@pytest.mark.parametrize("host", UNREACHABLE.split())
def test_a_network_of_ones_own_is_not_read(host: str) -> None:
    with pytest.raises(InvalidRequestError):
        attached_address(f"https://{host}/cat.png")


@pytest.mark.parametrize(
    "carried",
    [
        "ada:s3cret@example.com/cat.png", "ada@example.com/cat.png", "example.com/cat.png?token=s3cret",
        "example.com/cat.png?X-Amz-Credential=a&X-Amz-Signature=s3cret", "example.com/cat.png?sv=2020&sig=s3cret",
        "example.com/cat.png?api_key=s3cret", "example.com/cat.png#access_token=s3cret",
        "example.com/sk-proj-s3cretabcdefghijklmnop1234567890/cat.png",
    ],
)  # fmt: skip
def test_an_address_that_holds_a_key_is_refused_without_it(carried: str) -> None:
    with pytest.raises(InvalidRequestError, match="key") as raised:
        attached_address(f"https://{carried}")
    assert "s3cret" not in str(raised.value)
