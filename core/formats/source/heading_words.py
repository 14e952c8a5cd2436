"""Words in headings, by language: raters, summaries, remarks, criteria, ids."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from core.text.names import fold, kept_if_short

Words = dict[str, str]

#: People who judge. A word matches as a prefix: `grader` also matches `graders`.
RATERS: Words = {
    "en": "rater annotator judge grader reviewer coder scorer reader marker expert human teacher"
    " examiner evaluator assessor turker labeler labeller juror panelist referee critic observer"
    " moderator proctor worker crowdworker person radiologist pathologist clinician"
    " physician dermatologist checker nurse sonographer interviewer"
    " rated_by graded_by scored_by coded_by annotated_by labeled_by labelled_by judged_by"
    " evaluated_by verified_by fact-checked_by checked_by reviewed_by marked_by assessed_by"
    " inspector auditor your_name pc_member committee_member prolific_pid prolific_id"
    " your_initials qa_analyst quality_analyst qa_specialist jury_member panel_member turk_id",
    "de": "gutachter kodierer codierer bewerter beurteiler prufer pruefer korrektor lehrkraft"
    " juror beobachter kodiererin zweitkorrektor erstkorrektor"
    " erstkorrektur zweitkorrektur drittkorrektur erstgutachten zweitgutachten erstbewertung"
    " zweitbewertung bewertet_von gepruft_von korrigiert_von beurteilt_von kodiert_von"
    " begutachtet_von erstprufer zweitprufer erstgutachter zweitgutachter"
    " erstbewerter zweitbewerter dein_name ihr_name jurymitglied jury-mitglied",
    "fr": "correcteur correctrice evaluateur evaluatrice annotateur annotatrice jure juge"
    " relecteur relectrice examinateur examinatrice codeur notateur evalue_par note_par corrige_par"
    " verifie_par votre_nom ton_nom membre_du_jury",
    "es": "evaluador anotador juez jurado revisor corrector calificador codificador examinador"
    " evaluado_por calificado_por corregido_por revisado_por codificado_por tu_nombre su_nombre"
    " miembro_del_jurado",
    "pt": "avaliador juiz corretor avaliado_por corrigido_por revisado_por",
    "it": "valutato_da corretto_da valutatore valutatrice annotatore annotatrice giudice giurato"
    " revisore correttore membro_della_giuria",
    "nl": "begeleider tweede_lezer beoordeeld_door nagekeken_door beoordelaar codeur nakijker",
    "north": "eerste_lezer jurylid bedomare bedommer annoterare granskare sensor kodare arvioija",
    "slavic": "oceniajacy recenzent anotator sedzia hodnotitel ocenjivac оценщик эксперт"
    " аннотатор рецензент судья асессор проверяющ кодировщик оцінювач експерт",
    "tr": "degerlendirici hakem puanlayici kodlayici",
    "zh": "评分人 评分者 评分员 标注者 标注员 标注人 评审 评委 评估者 评估人 评价者 评价人"
    " 阅卷 打分人 审核人"
    " 評分者 評分人 標註者 評審",
    "ja": "パネリスト パネラー パネル 評価者 採点者 アノテータ 注釈者 審査員 査読者 判定者",
    "ko": "평가자 채점자 주석자 심사위원 검토자",
    "ar": "مقيم مصحح محكم مراجع",
    "he": "מעריך שופט בודק מתייג",
    "hi": "मूल्यांकनकर्ता परीक्षक निर्णायक",
}
#: People who may have judged, been judged, or written: enough reason to ask the user.
PEOPLE: Words = {
    "en": "participant respondent listener hearer viewer agent analyst interviewer"
    " peer initials email e-mail user voter subject prolific created_by modified_by"
    " excerpt_creator member_name member_#",
    "de": "teilnehmer teilnehmend proband versuchsperson horer leser lehrer kurzel initialen",
    "fr": "participant repondant auditeur lecteur initiales enseignant courriel",
    "es": "participante encuestado docente oyente lector iniciales correo experto",
    "it": "partecipante ascoltatore docente iniziali",
    "other": "deelnemer deltagare deltager uczestnik katilimci участник респондент"
    " 参加者 回答者 参与者 受试者 参與者 응답자 참가자 المشارك المجيب משתתף",
}
#: Words for a summary of the neighbouring columns, or of the rows above.
SUMMARIES: Words = {
    "en": "resolved total mean average avg sum median final consensus majority adjudicated"
    " adjudication aggregate aggregated combined std stdev sd agreed reconciled difference gap"
    " maximum max_points max_score max_marks points_possible",
    "de": "konsens durchschnitt mittelwert summe gesamt insgesamt mehrheit endnote gesamtnote"
    " einigung differenz abweichung endgultig endgultige maximal max_punkte",
    "fr": "moyenne somme consensus majorite retenue ecart definitif definitive finale",
    "es": "promedio consenso suma acordado mayoria diferencia definitiva",
    "pt": "soma consenso maioria",
    "it": "somma consenso maggioranza",
    "other": "gemiddelde totaal srednia suma zgoda ortalama toplam medelvarde gjennomsnitt"
    " gennemsnit keskiarvo среднее итог итого сумма консенсус"
    " 平均 合計 总分 總分 合计 均值 共识 平均値 最終 一致 평균 합계 합의"
    " المتوسط متوسط المجموع الإجماع ממוצע",
}
#: First cells of rows with the points possible.
POINTS_POSSIBLE: Words = {
    "en": "points_possible points max_points max_score max_marks maximum_points possible_points"
    " out_of maximum_marks total_possible",
    "de_fr": "punkte_maximal max_punkte maximale_punkte punkte_moglich hochstpunktzahl"
    " points_possibles bareme points_max",
    "other": "puntos_posibles puntaje_maximo punteggio_massimo pontuacao_maxima maximale_punten",
}
#: First cells of rows that summarise the others, or give the maximum.
SUMMARY_ROWS: Words = SUMMARIES | {
    "points": " ".join(POINTS_POSSIBLE.values()),
    "rows": "n count max maximum min minimum media média moyenne_generale mittel schnitt anzahl"
    " moyenne_de_la_classe moyenne_classe klassenschnitt klassendurchschnitt"
    " durchschnitt_der_klasse media_de_la_clase media_del_grupo media_della_classe media_classe"
    " media_da_turma klasgemiddelde srednia_klasy klassmedel class_mean class_median"
    " nombre numero date due_date date_due standard_deviation std_dev standardabweichung"
    " ecart_type grand_total overall_mean overall_average class_average subtotal zwischensumme"
    " desviacion_estandar notendurchschnitt ø",
}
#: Remarks by raters.
REMARKS: Words = {
    "en": "comment remark note memo rationale reason justification explanation reasoning feedback"
    " critique weaknesses strengths",
    "de": "anmerkung bemerkung kommentar notiz begrundung hinweis",
    "fr": "commentaire remarque observation justification",
    "es": "comentario observacion observaciones justificacion motivo",
    "pt": "observacao observacoes justificativa",
    "it": "commento osservazion motivazione",
    "other": "opmerking toelichting uwagi uzasadnienie примечание комментарий yorum aciklama"
    " kommentti 备注 注释 评语 理由 備註 コメント 備考 비고 의견 이유 ملاحظات تعليق سبب הערות",
}
#: Words for criteria.
ASPECTS: Words = {
    "en": "criterion criteria aspect dimension metric measure trait check scale subscale indicator",
    "de": "kriterium merkmal dimension aspekt",
    "fr": "critere aspect",
    "es": "criterio aspecto",
    "other": "критери 指标 维度 标准 基準 観点 항목 기준 معيار olcut kryterium kriterie",
}
#: Words for the prompt that an item answers.
PROMPTS: Words = {
    "en": "prompt question instruction input source src query task",
    "de": "frage aufgabe anweisung quelle",
    "fr": "consigne question",
    "es": "pregunta consigna",
    "slavic_nordic": "pytanie polecenie fraga sporsmal",
    "other": "domanda pergunta questao enunciado vraag вопрос 问题 題目 题目 質問 問題 질문 문제"
    " السؤال سؤال שאלה soru",
    "source": "original ausgangstext quelltext originaltext texte_source fuente origen fonte bron"
    " zrodlo kaynak premis premess pramiss исходн оригинал 原文 源文 原句 원문 المصدر الأصلي מקור",
}
#: The topic of texts, which is the prompt if pupils write on the same topic.
TOPICS: Words = {
    "en_de_fr": "topic assignment thema aufsatzthema sujet consigne",
    "romance": "tema asunto assunto enunciado traccia topico argomento tematica",
    "other": "temat onderwerp konu amne emne aihe тема 主题 主題 题目 題目 テーマ お題 주제 נושא"
    " الموضوع",
}
#: Pupils and what they write.
SCHOOL: Words = {
    "en_de_fr": "pupil student essay composition schuler aufsatz eleve redaction",
    "romance": "alumno alumna aluno aluna alunno alunna studente estudiante estudante redaccion"
    " redacao composicion composicao composizione",
    "other": "leerling opstel uczen uczniowie wypracowani elev uppsats ogrenci kompozisyon ученик"
    " сочинение 学生 生徒 作文 학생 작문",
}
#: References: answers to compare with, not answers of people who were asked.
REFERENCES: Words = {
    "en_de": "reference gold ideal expected exemplar referenz musterlosung musterantwort"
    " erwartungshorizont",
    "romance": "referencia riferimento gabarito corrige_type reponse_attendue reponse_modele"
    " respuesta_modelo respuesta_esperada resposta_esperada resposta_modelo risposta_attesa",
    "other": "referentie voorbeeldantwoord modelantwoord wzorcowa referans ornek_cevap эталон"
    " 参考 標準答案 标准答案 模範解答 모범답안",
}
#: People whose message a text answers.
ASKERS: Words = {
    "en": "customer client user_message user_turn patient_message",
    "de": "kunde kundin kunden klient anfrage",
    "fr": "client demande",
    "es_pt_it": "cliente consulta consultante richiesta",
    "nl_nordic": "klant klient kund kunde asiakas",
    "slavic": "klient klienta клиент замовник обращение",
    "other": "musteri 客户 顾客 顧客 客戶 お客様 고객 العميل לקוח",
}
#: What a summary, a headline or an answer was made of.
SOURCES: Words = {
    "en_de": "article document passage transcript dialogue news artikel dokument transkript",
    "romance": "articulo documento articolo artigo transcripcion trascrizione transcricao",
    "other": "статья документ текст_статьи makale 文章 文档 記事 文書 기사 문서 مقال مقالة",
}
#: Judged texts, next to the text that they answer, translate or summarise.
WRITTEN_TEXTS: Words = {
    "en": "translation translated target hypothesis response answer reply summary essay paraphrase"
    " output completion hyp mt headline recap simplification simplified",
    "de": "ubersetzung antwort zusammenfassung aufsatz",
    "fr": "traduction reponse redaction",
    "es": "traduccion respuesta resumen redaccion",
    "pt": "traducao resposta resumo redacao",
    "it": "traduzione risposta riassunto",
    "other": "vertaling antwoord samenvatting oversattning oversettelse tlumaczenie odpowiedz"
    " ceviri yanit перевод ответ эссе 译文 翻译 譯文 翻譯 回答 答案 作文 摘要 訳文 翻訳 応答 要約"
    " 번역 답변 요약 الترجمة ترجمة الإجابة الجواب ملخص תרגום תשובה",
}
#: The rater's confidence in the neighbouring answer.
SURENESS: Words = {
    "en": "confidence confident certainty sure sureness",
    "other": "sicherheit konfidenz gewissheit confiance certitude confianza certeza confianca"
    " fiducia sicurezza zekerheid pewnosc eminlik уверенность 置信度 确信度 確信度 信心 확신 신뢰도"
    " الثقة ביטחון",
}
#: Counts and measurements (how long, how often), which are not judgements.
MEASURES: Words = {
    "en": "seconds secs minutes mins hours days weeks months milliseconds msec rt_ms time_ms"
    " response_ms in_ms duration latency elapsed votes upvotes downvotes likes views clicks"
    " retweets downloads count counts wordcount n_words num_words time_spent time_taken"
    " weight weighting turns messages tokens year_of_birth birth_year birthyear"
    " date_of_birth fk_grade flesch kincaid gunning_fog fog_index smog dale_chall coleman_liau"
    " automated_readability km kilometers kilometres mileage distance_km",
    "de": "sekunden minuten stunden tage wochen dauer bearbeitungszeit anzahl klicks aufrufe"
    " wortzahl gewicht gewichtung geburtsjahr jahrgang geburtsdatum",
    "fr": "secondes minutes heures jours semaines duree temps_passe nombre vues clics"
    " annee_de_naissance",
    "es": "segundos minutos horas dias semanas duracion vistas ano_de_nacimiento",
    "other": "secondi minuti durata seconden sekunder czas_trwania секунд минут длительность"
    " 秒 时长 次数 浏览量 点赞 回数",
}
#: Ranks, of which the first is the best.
RANKS: Words = {
    "en": "rank ranking place placing placement position",
    "de": "rang rangplatz rangfolge platz platzierung",
    "fr": "rang classement place",
    "es": "puesto posicion clasificacion",
    "pt": "posicao colocacao classificacao",
    "it": "posto posizione classifica",
    "other": "plaats rangorde plats plassering placering miejsce ранг место 名次 排名 順位 순위",
}
#: Faults: a higher number is worse.
FAULTS: Words = {
    "en": "severity risk harm harmfulness harmful toxicity toxic offensiveness offensive hateful"
    " hallucination hallucinations hallucinated hallucinates error errors mistake mistakes"
    " violation violations bias biased misinformation danger unsafe off-topic irrelevant misleading"
    " fabricated fabrication fabrications contradiction contradictions plagiarism plagiarised"
    " plagiarized hate_speech spam abusive profanity pii_leak defect defects flaw flaws"
    " omission omissions mistranslation jailbreak jailbroken cheating stereotype stereotypes",
    "de": "schweregrad risiko fehler schaden toxizitat gefahr halluzination halluzinationen toxisch"
    " schadlich beleidigend plagiat themaverfehlung verstoss verstosse hassrede widerspruch",
    "fr": "gravite risque erreur erreurs danger toxicite toxique hallucination hallucinations"
    " offensant nuisible plagiat hors-sujet haineux contresens omission omissions",
    "es_pt": "gravedad riesgo error errores peligro gravidade risco erro erros perigo alucinacion"
    " alucinaciones alucinacao alucinacoes toxico toxica toxicidad toxicidade ofensivo ofensiva"
    " plagio fuera_de_tema fora_do_tema sesgo contradiccion contradicao",
    "it": "gravita rischio errore errori pericolo allucinazione allucinazioni tossico tossicita"
    " offensivo plagio fuori_tema",
    "other": "ernst risico fout fouten hallucinatie hallucinaties plagiaat ryzyko blad bledy"
    " halucynacja halucynacje plagiat toksyczny fel halucinationer hata halusinasyon intihal"
    " риск тяжесть ошибка ошибки галлюцинация галлюцинации плагиат токсичность"
    " 风险 严重程度 幻觉 错误 抄袭 跑题 有毒 リスク 重症度 幻覚 ハルシネーション 誤り 盗用"
    " 환각 오류 표절 هلوسة خطأ",
}
#: Words for a preference: which of two answers is better.
PREFERENCES: Words = {
    "en": "prefer pref winner better best choice chosen verdict",
    "de": "bevorzug praferenz besser sieger wahl",
    "fr": "prefere preference meilleur choix gagnant",
    "es": "prefer preferido preferencia mejor eleccion ganador",
    "pt": "preferencia preferida melhor escolha vencedor",
    "it": "preferenza preferita migliore scelta vincitore",
    "other": "voorkeur beter keuze preferencj lepsz wybor foredra battre предпочт лучш выбор"
    " 更好 偏好 好み 良い",
}
#: The person rated, if people rate each other.
RATED: Words = {
    "en": "you_are_rating you_are_reviewing you_are_evaluating you_are_assessing you_are_grading"
    " are_you_grading are_you_marking are_you_rating are_you_reviewing are_you_evaluating"
    " are_you_assessing being_rated"
    " being_reviewed being_evaluated being_assessed ratee reviewee evaluatee assessee",
    "de": "wen_bewertest_du wen_bewerten_sie wen_beurteilst_du bewertete_person",
    "fr": "personne_evaluee qui_evaluez_vous vous_evaluez membre_evalue",
    "es": "persona_evaluada a_quien_evaluas companero_evaluado",
    "groups": "which_group which_team which_presentation which_speaker welche_gruppe welches_team"
    " quel_groupe quelle_equipe a_que_grupo que_grupo que_equipo qual_grupo quale_gruppo"
    " welke_groep grupo_evaluado group_rated",
}
#: Things that students rate.
COURSES: Words = {
    "en": "course module lecture workshop seminar subject_code",
    "de": "kurs fach modul vorlesung lehrveranstaltung",
    "fr": "cours matiere",
    "es": "curso asignatura materia",
    "pt": "disciplina",
    "it": "corso insegnamento",
    "nl": "cursus vak vakcode vaknaam",
    "other": "przedmiot kursus emne ders дисциплина предмет 课程 課程 科目 과목 المقرر",
}
#: Ids and names of rated things.
_MORE_ITEMS = {"rated": RATED, "course": COURSES}
ITEMS: Words = {
    "en": "id uid item case comparison doc document segment stimulus stimuli stim sample unit task"
    " ticket story essay utterance video image clip file record trial number no key question"
    " candidate student submission example passage topic query paragraph scene frame turn page"
    " lesion dialogue conversation pr paper post comment tweet patient visit specimen image picture"
    " ref clause entry photo url audio recording sentence song track melody product proposal"
    " applicant poster",
    "de": "nummer nr fall beitrag aufgabe segment kennung",
    "fr": "numero n° dossier identifiant copie",
    "es": "numero expediente caso alumno identificador",
    "other": "编号 序号 編號 番号 번호 الرقم رقم номер sira numara nummer identyfikator",
} | {f"{of}_{lang}": words for of, by in _MORE_ITEMS.items() for lang, words in by.items()}


#: Headings of first and of last names, which name a person only together.
_FIRST_NAMES: Words = {
    "en_de_fr": "first_name given_name forename vorname prenom",
    "other": "nombre nombres nome imie voornaam fornavn fornamn etunimi ad adi имя 名 이름",
}
_LAST_NAMES: Words = {
    "en_de_fr": "last_name surname family_name name nachname familienname nom nom_de_famille",
    "romance": "apellido apellidos cognome sobrenome apelido",
    "other": "nazwisko achternaam efternavn efternamn etternavn sukunimi soyad soyadi"
    " фамилия 姓 성",
}


def name_parts(headings: Iterable[str]) -> tuple[str, ...]:
    """Return the headings of the last and the first names of people, or () without both.

    >>> name_parts(["Vorname", "Nachname", "Punkte"]), name_parts(["Name", "Points"])
    (('Nachname', 'Vorname'), ())
    """
    plain = {plain_heading(h): h for h in headings}
    parts = [[h for p, h in plain.items() if p in words] for words in _NAMES]
    return (parts[0][0], parts[1][0]) if all(parts) else ()


def heads_names(heading: str) -> bool:
    """Return whether a heading is that of people's names, whole or in part.

    >>> heads_names("Name"), heads_names("Prénom"), heads_names("Nr.")
    (True, True, False)
    """
    return any(plain_heading(heading) in words for words in _NAMES)


@kept_if_short
def plain_heading(heading: str) -> str:
    """Return a heading in lower case without accents, with spaces between its words.

    >>> plain_heading("Prüfer_KM"), plain_heading("N° de dossier")
    ('prufer km', 'n° de dossier')
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", heading)
    parts = unicodedata.normalize("NFD", fold(parted))
    letters = "".join(c for c in parts if unicodedata.category(c) != "Mn")
    return " ".join(re.split(r"[\s_\-./:()\[\]]+", unicodedata.normalize("NFC", letters))).strip()


@cache
def _pattern_of_kind(kind: int) -> re.Pattern[str]:
    words = _heading_words(_KINDS[kind])
    # Short words are prefixes of too many others: "pr" priority, "no" novelty.
    latin = "|".join(
        re.escape(w) + (r"(?:e?s)?(?![^\W\d_])" if len(w) < 5 else "")
        for w in words
        if w[0].isascii()
    )
    # In languages without spaces, or with affixes, these words match anywhere.
    anywhere = "|".join(re.escape(w) for w in words if not w[0].isascii())
    begin_otherwise = _OTHERS
    if _KINDS[kind] in (RATERS, PEOPLE):
        begin_otherwise += rf"|.*(?:{'|'.join(_heading_words(RATED))})"  # a person who was rated
    begins = rf"(?<![^\W\d_])(?!{begin_otherwise})"
    return re.compile(rf"{begins}(?:{latin})" + (rf"|{anywhere}" if anywhere else ""))


def _heading_words(of: Words) -> list[str]:
    """Return words in the form of headings, longest first."""
    return sorted({plain_heading(w) for words in of.values() for w in words.split()}, key=len)[::-1]


_NAMES = [frozenset(_heading_words(words)) for words in (_LAST_NAMES, _FIRST_NAMES)]
#: Words that begin like a word for people or items but mean something else.
_OTHERS = "confidenti(?:al|el)|judge?ment|humanit|humane|expertise|personal|readership|materiaa?l"
_KINDS = (
    *(RATERS, PEOPLE, SUMMARIES, REMARKS, ASPECTS, PROMPTS, WRITTEN_TEXTS, SURENESS, ITEMS),
    *(MEASURES, RATED, RANKS, COURSES, PREFERENCES, ASKERS, FAULTS),
    *(TOPICS, SCHOOL, REFERENCES, SOURCES),
)
#: Dictionaries have no hash; each of these is one object.
_PLACES = {id(words): place for place, words in enumerate(_KINDS)}


def has_word(heading: str, words: Words, *, whole: bool = False) -> bool:
    """Return whether a word of a heading begins with one of ``words``; with ``whole``, equals one.

    >>> has_word("2. Kodiererin", RATERS), has_word("Finalist", SUMMARIES, whole=True)
    (True, False)
    >>> has_word("Task no.", ITEMS), has_word("Novelty", ITEMS), has_word("Tasks", ITEMS)
    (True, False, True)
    """
    return _has_word_of_kind(heading, _PLACES[id(words)], whole)


@kept_if_short
def _has_word_of_kind(heading: str, kind: int, whole: bool) -> bool:
    match = _pattern_of_kind(kind).finditer(plain_heading(heading))
    ends = (m.end() == len(m.string) or not m.string[m.end()].isalpha() for m in match)
    return any(ends) if whole else any(True for _ in ends)


_ROW_WORDS = [frozenset(_heading_words(words)) for words in (SUMMARY_ROWS, POINTS_POSSIBLE)]


def heads_a_summary(cell: str, *, maxima: bool = False) -> bool:
    """Return whether a first cell says that its row summarises others; ``maxima``: points possible.

    >>> heads_a_summary("  Points Possible"), heads_a_summary("Mean:"), heads_a_summary("Meaning")
    (True, True, False)
    """
    return plain_heading(cell.strip(" :.=*")) in _ROW_WORDS[maxima]
