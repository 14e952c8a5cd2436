"""Tables of an eighth stranger's kinds: prompts beside texts, derived columns, two-column items.

The shapes were met in the wild; the texts are made up here.
"""

from __future__ import annotations

from tests.formats.strangers import Stranger, essay, table

#: What was asked, and the text that answers, in several languages.
ASKED = (
    ("Pregunta 1", "Respuesta 1"),
    ("Customer message", "Agent reply"),
    ("Kundenanfrage", "Antwort"),
    ("Message du client", "Réponse"),
    ("Messaggio del cliente", "Risposta"),
    ("Bericht van de klant", "Antwoord"),
    ("Wiadomość klienta", "Odpowiedź"),
    ("Сообщение клиента", "Ответ"),
    ("客户消息", "回复"),
    ("お客様の声", "回答"),
    ("고객 문의", "답변"),
    ("clinical_note", "generated_text"),
)
WANTED = "Why does the lamp at the gate go out when it rains for long?"

ANSWERED_TABLES: tuple[Stranger, ...] = tuple(
    Stranger(
        f"asked {at}.csv",
        table([{"Nr": n, "Staat": "ok", asked: WANTED, text: essay(n)} for n in range(8)]),
        "dataset", 8, text=essay(0), prompt=WANTED,
    )
    for at, (asked, text) in enumerate(ASKED)
)  # fmt: skip
