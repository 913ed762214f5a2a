"""Pure: the phrases by which answers announce, affirm and conclude. Data only, in the folded form of
`normalise.fold`."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Nouns that announce an answer: "Answer: 42", "the result is 42".
ANSWER_NOUNS: Final = (
    "answer", "solution", "result", "choice", "option", "verdict", "conclusion",
    "respuesta", "solucion", "resposta", "risposta", "reponse", "antwort", "ergebnis", "losung", "svar", "odpowiedz",
    "cevap", "ответ", "відповідь", "απαντηση", "תשובה", "الجواب", "الإجابة", "उत्तर",
)  # fmt: skip
#: The same in scripts without blanks, where no word boundary stands before them.
ANSWER_NOUNS_UNSPACED: Final = ("答案", "答え", "回答", "答", "结论", "結論", "정답", "답")
#: What links the noun and the answer when there is no colon.
LINKS: Final = ("is", "are", "was", "es", "e", "est", "ist", "be", "equals")
LINKS_UNSPACED: Final = ("是", "为", "為", "は", "은", "는")
#: Keys of JSON outputs that hold the answer.
ANSWER_KEYS: Final = _words("answer result solution output value response choice verdict conclusion label prediction")

YES: Final = _words("yes yeah yep true correct si oui ja sim да так ναι evet نعم כן हाँ हां はい 是 是的 对 네 예")
NO: Final = _words(
    "no nope false incorrect non nein nao nee nej нет ні οχι hayir لا לא नहीं いいえ 不 不是 否 아니요 아니오"
)
#: Openings of a sentence that concludes.
CONCLUSIONS: Final = (
    "so ", "so,", "therefore", "thus", "hence", "in total", "in conclusion", "in summary", "to sum up", "altogether",
    "finally", "overall", "consequently", "por lo tanto", "por tanto", "donc", "ainsi", "also gilt",
    "daher", "somit", "portanto", "quindi", "итак", "таким образом", "следовательно", "所以", "因此", "したがって",
    "よって", "따라서", "لذلك", "इसलिए",
)  # fmt: skip

#: Question words and what they ask for, in the folded form: "time" a date or a number, "count" a number, "who" a name.
#: Only those that ask for nothing else; the first of them in the task decides.
QUESTIONS: Final[dict[str, str]] = {
    **dict.fromkeys(("when", "what year", "which year", "what date", "what day", "cuando", "quand", "wann", "quando",
                     "когда", "何时", "什么时候", "哪一年", "いつ", "何年", "언제", "متى", "कब"), "time"),
    **dict.fromkeys(("how many", "how much", "how old", "how far", "how tall", "how long", "what percentage",
                     "what percent", "cuanto", "cuantos", "cuantas", "combien", "wie viel", "wie viele", "quanto",
                     "quanti", "quantos", "сколько", "多少", "几个", "いくつ", "いくら", "何人", "얼마", "몇", "كم",
                     "कितने", "कितना"), "count"),
    **dict.fromkeys(("who", "whom", "whose", "quien", "quienes", "wer", "кто", "谁", "誰", "누구", "कौन"), "name"),
}  # fmt: skip
