"""What a text says behind a disguise: hidden characters, look-alike letters, spaced or encoded words."""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from hindsight_language.simplified import simplify
from hindsight_language.statements import HAN

MAX_CHARS = 4_000  # a longer text is read at its ends
LEAST_WORDS, DECODED_CHARS = 3, 12  # what decodes to less says nothing
READABLE = 0.85  # share of letters, digits, spaces and usual marks in what was decoded
LEET_SHARE = 0.7  # of digits in a word that still reads as one
DEEPEST = 2  # encodings inside each other

# Letters that look like Latin ones: Cyrillic, Greek, Armenian, Cherokee and small capitals. Unicode TR 39, by eye.
_LOOK_ALIKES = str.maketrans(
    "аАвВеЕкКмМнНоОрРсСтТуУхХіІјЈѕЅԁԛԝһӏьгпиΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεικνορτυχγωѡіɑɡıℓօսոցհքᴀʙᴄᴅᴇғɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ",
    "aabbeekkmmhhooppccttyyxxiijjssdqwhlbrnuabezhikmnoptyxaeikvoptuxywwiagilounghqabcdefghijklmnoprstuvwyz",
)
_LEET = str.maketrans("013457@$!", "oieastasi")
_WORD = re.compile(r"[^\W_]+")
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)
_OTHER_SCRIPT = re.compile(r"[\u0370-\u03ff\u0400-\u052f\u0530-\u058f\u13a0-\u13ff]")
_SMALL = re.compile(r"[\u1d00-\u1d7fʀʙɢʜɪʟɴʏғꜱ]")
_LEET_WORD = re.compile(
    r"(?<![\w.:/-])(?=[\w@$!]*[a-z])(?=[\w@$!]*[013457@$!][\w@$!]*)[a-z013457@$!]{4,}(?![\w.:/-])", re.IGNORECASE
)
_LEET_INSIDE = re.compile(r"[a-z][013457@$!]+[a-z]", re.IGNORECASE)
_SPACED = re.compile(r"(?<!\w)(?:\w[ \u3000.*_|/·•~-]{1,2}){3,}\w(?!\w)")
_SPACED_HAN = re.compile(r"[\u3400-\u9fff](?:[ \u3000.*_|/·•~+-]{1,2}[\u3400-\u9fff]){3,}")
_BETWEEN = re.compile(r"(?<=[^\W_])[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f](?=[^\W_])")
_BACKWARDS = re.compile(r"反过来|倒着|倒序|逆序|倒读")
_JOINERS = "\u200c\u200d"  # ordinary between emoji and in some scripts
_BLANK = "\u034f\u115f\u1160\u3164\uffa0"  # letters by category that show nothing
_FORMAT = frozenset(c for c in map(chr, (*range(0x20000), *range(0xE0000, 0xE0080))) if unicodedata.category(c) == "Cf")
_VARIANTS = frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
_NOT_SEEN = _FORMAT | _VARIANTS | set(_BLANK)


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it is judged, what was decoded from inside it, and what was done to hide it."""

    plain: str
    decoded: tuple[str, ...]
    disguises: frozenset[str]  # hidden, look_alike, spaced, leet, encoded


def unmask(text: str) -> Reading:
    """A text without its disguises."""
    text = text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS // 2]} {text[-MAX_CHARS // 2 :]}"
    disguises: set[str] = set()
    plain = _show_hidden(text, disguises)
    decoded = tuple(dict.fromkeys(_decode(plain, DEEPEST)))
    if decoded:
        disguises.add("encoded")
    plain = unicodedata.normalize("NFKC", plain).replace("’", "'")
    if _OTHER_SCRIPT.search(plain) or _SMALL.search(plain):
        plain = _WORD.sub(lambda word: _read_look_alikes(word[0], disguises), plain)
    plain = _BETWEEN.sub("", plain)
    for pattern in (_SPACED, _SPACED_HAN):
        plain = pattern.sub(lambda found: _close_up(found[0], disguises), plain)
    if not decoded:
        plain = _LEET_WORD.sub(lambda word: _read_leet(word[0], disguises), plain)
    return Reading(simplify(plain), decoded, frozenset(disguises))


def _show_hidden(text: str, disguises: set[str]) -> str:
    """The text without characters that are not seen; what stands in tag characters is written out."""
    if _NOT_SEEN.isdisjoint(text):
        return text
    kept: list[str] = []
    for place, character in enumerate(text):
        code = ord(character)
        if 0xE0020 <= code <= 0xE007E and not (place and ord(text[place - 1]) == 0x1F3F4):
            kept.append(chr(code - 0xE0000))
            disguises.add("hidden")
        elif character in _FORMAT or character in _BLANK:
            around = text[max(0, place - 1) : place] + text[place + 1 : place + 2]
            is_ordinary = character in _JOINERS and not all(c.isascii() or "\u3400" <= c <= "\u9fff" for c in around)
            if not is_ordinary and place and character != "\u00ad" and place + 1 < len(text):
                disguises.add("hidden")
        elif character not in _VARIANTS:
            kept.append(character)
    return "".join(kept)


def _read_look_alikes(word: str, disguises: set[str]) -> str:
    """A word in Latin letters where some of it only looks as if it were."""
    is_mixed = _LATIN.search(word) and _OTHER_SCRIPT.search(word)
    if not (is_mixed or _SMALL.search(word)):
        return word
    disguises.add("look_alike")
    return word.translate(_LOOK_ALIKES)


def _close_up(text: str, disguises: set[str]) -> str:
    """Letters set apart, as the words they make; where two gaps differ, the wider one parts words."""
    letters = re.sub(r"[ \u3000.*_|/·•~+-]+", "", text)
    if letters.isdigit() or not any(c.isalpha() for c in letters):
        return text
    disguises.add("spaced")
    words = [re.sub(r"[^\w]|_", "", part) for part in re.split(r"[ \u3000]{2,}", text)]
    return " ".join(words)


def _read_leet(word: str, disguises: set[str]) -> str:
    """A word whose digits and signs stand for letters; names like "gpt4" or "v2x" stay as they are."""
    if not _LEET_INSIDE.search(word) or sum(c.isdigit() for c in word) > LEET_SHARE * len(word):
        return word
    disguises.add("leet")
    return word.translate(_LEET)


def _decode(text: str, depth: int) -> Iterator[str]:
    """Readable texts that stand encoded inside a text."""
    for raw in _candidates(text):
        found = " ".join(raw.split())
        if _is_readable(found) and found not in text:
            yield simplify(unicodedata.normalize("NFKC", found))
            if depth > 1:
                yield from _decode(found, depth - 1)


def _candidates(text: str) -> Iterator[str]:
    """What a text may hold in another encoding; most of it is no text."""
    for mark, pattern, decoder in _ENCODINGS:
        for found in pattern.findall(text) if mark in text else ():
            try:
                yield decoder(found)
            except (binascii.Error, ValueError, LookupError):
                continue
    if not HAN.search(text):
        words = re.findall(r"[a-z]+", text.lower())
        common = sum(map(_COMMON.__contains__, words))
        for turn, turned in _TURNS:
            if sum(map(turned.__contains__, words)) >= max(2, 2 * common):
                yield turn(text)
    elif _BACKWARDS.search(text):
        yield text[::-1]


def _read_base64(found: str) -> str:
    padded = found.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True).decode()


def _read_base32(found: str) -> str:
    bare = found.rstrip("=")
    return base64.b32decode(bare + "=" * (-len(bare) % 8)).decode()


def _read_hex(found: str) -> str:
    return bytes.fromhex(re.sub(r"0x|\\x|[^0-9a-f]", "", found, flags=re.IGNORECASE)).decode()


def _read_bits(found: str) -> str:
    return bytes(int(bits, 2) for bits in found.split()).decode()


def _read_morse(found: str) -> str:
    return " ".join("".join(_MORSE.get(sign, "") for sign in word.split()) for word in re.split(r"/| {2,}", found))


def _read_escapes(found: str) -> str:
    units = "".join(chr(int(code.strip("{}"), 16)) for code in found.lower().split("\\u")[1:])
    return units.encode("utf-16", "surrogatepass").decode("utf-16")


# What stands in every such text, how it looks, and how it is read.
_ENCODINGS: Sequence[tuple[str, re.Pattern[str], Callable[[str], str]]] = (
    ("", re.compile(r"(?<![\w+/])[A-Za-z0-9+/_-]{16,}={0,2}"), _read_base64),
    ("", re.compile(r"(?<!\w)[A-Z2-7]{16,}={0,6}"), _read_base32),
    ("", re.compile(r"(?<!\S)(?:<~)?([!-u]{20,}?)(?:~>)?(?!\S)"), lambda found: base64.a85decode(found).decode()),
    ("", re.compile(r"(?<!\S)[!-~]{20,}(?!\S)"), lambda found: base64.b85decode(found).decode()),
    ("", re.compile(r"(?<!\w)(?:0x)?(?:[0-9a-f]{2}[ ,:]?){10,}(?!\w)|(?:\\x[0-9a-f]{2}){6,}", re.IGNORECASE), _read_hex),
    ("", re.compile(r"(?:[01]{8}\s+){4,}[01]{8}"), _read_bits),
    ("", re.compile(r"(?:[.-]{1,5}(?: +/? *|/)){8,}[.-]{1,5}"), _read_morse),
    ("\\", re.compile(r"(?:\\u(?:000[0-9a-f]{5}|[0-9a-f]{4}|\{0*[0-9a-f]{1,5}\})){4,}", re.IGNORECASE), _read_escapes),
    ("%", re.compile(r"[\w.%-]*(?:%[0-9a-f]{2}[\w.-]*){3,}", re.IGNORECASE), lambda found: unquote(found, errors="strict")),
    ("&#", re.compile(r"[^\n]*&#x?[0-9a-f]+;[^\n]*", re.IGNORECASE), html.unescape),
)
_MORSE_SIGNS = ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."
_MORSE: Mapping[str, str] = dict(zip(_MORSE_SIGNS.split(" "), "abcdefghijklmnopqrstuvwxyz", strict=True))
_COMMON = frozenset(
    [
        *("the", "and", "all", "you", "your", "to", "of", "in", "is", "for", "this", "that", "with", "now", "must", "ignore"),
        *("previous", "instructions", "not", "are", "me", "as"),
    ]
)


def _rotate(text: str) -> str:
    return codecs.decode(text, "rot13")


def _reverse(text: str) -> str:
    return text[::-1]


# What turns a text back, and what the common words look like before.
_TURNS = tuple((turn, frozenset(turn(word) for word in _COMMON)) for turn in (_rotate, _reverse))


def _is_readable(text: str) -> bool:
    """Whether a decoded text is words: enough letters of one or two scripts, with spaces or Chinese."""
    usual = sum(c.isalnum() or c in " .,:;!?'\"-_()/@#，。：；！？、\n" for c in text)
    has_words = len(text) >= DECODED_CHARS and len(re.findall(r"[a-z]{2,}", text, re.IGNORECASE)) >= LEAST_WORDS
    has_words = has_words or re.search(r"[\u3400-\u9fff]{4}", text) is not None
    return usual >= READABLE * len(text) and has_words
