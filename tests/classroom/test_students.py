"""Lists of students as spreadsheets and platforms save them."""

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.commands.init import init
from autograder.roster.csv_tables import BadTable
from autograder.roster.students import (
    HEADERS,
    Student,
    add_students,
    known_students,
    read_students,
)
from tests.grading.gradebook_fixtures import opened

ADA = Student("ada", "Lovelace", "Ada", "ada@uni.example")


def read(tmp_path, text: str | bytes):
    path = tmp_path / "class.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_students(path)


PLAIN = "id,last_name,first_name,email\nada,Lovelace,Ada,ada@uni.example\n"


@pytest.mark.parametrize(
    "data",
    [
        PLAIN.encode(),
        PLAIN.encode("utf-8-sig"),
        PLAIN.encode("utf-16"),
        PLAIN.replace(",", ";").encode(),
        PLAIN.replace(",", "\t").encode("utf-16"),
        ("sep=;\r\n" + PLAIN.replace(",", ";").replace("\n", "\r\n")).encode(),
        PLAIN.replace("\n", "\r\n\r\n").encode(),
        b'"id","last_name","first_name","email"\n"ada","Lovelace","Ada","ada@uni.example"',
    ],
    ids=["plain", "bom", "utf-16", "semicolons", "tabs", "excel", "empty lines", "quoted"],
)
def test_every_way_of_saving_gives_the_same_students(tmp_path, data):
    assert read(tmp_path, data).students == [ADA]


@pytest.mark.parametrize(
    "header",
    [
        "Username,Last Name,First Name,Email Address",
        "Matrikelnummer,Nachname,Vorname,E-Mail",
        "Student ID,Surname,Given name,E-mail",
        "identifiant,Nom,Prénom,Courriel",
    ],
)
def test_the_usual_headers_are_known(tmp_path, header):
    assert read(tmp_path, PLAIN.replace("id,last_name,first_name,email", header)).students == [ADA]


def test_no_two_fields_take_the_same_header_by_mistake():
    """Where a header serves two fields, it is one of the platforms' own numbers."""
    words = [word for names in HEADERS.values() for word in names.split()]
    twice = {word for word in words if words.count(word) > 1}
    assert twice == {"sisloginid", "sisuserid", "idnumber"}


NO_LISTS = {
    "empty": b"",
    "nobody": b"id,name\n",
    "no header": b"ada,Lovelace\ngrace,Hopper\n",
    "a spreadsheet": b"PK\x03\x04",
}
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Softmax (77)\n"
    "    Points Possible,,,,,10\n"
    '"Lovelace, Ada",1001,s-1,ada,A,\n'
    '"Student, Test",9,,x,A,\n'
)


@pytest.mark.parametrize("names_apart", [False, True])
def test_a_canvas_export_is_a_list_of_students(tmp_path, names_apart):
    text = CANVAS
    if names_apart:
        text = text.replace("Student,", "LastName,FirstName,", 1).replace(" Possible", " Possible,")
        text = text.replace(", Ada", '","Ada').replace(", Test", '","Test')
    found = read(tmp_path, text)
    assert found.students == [Student("ada", "Lovelace", "Ada", "", "1001", "s-1", "ada", "A")]
    assert not found.refused


def test_a_moodle_list_is_a_list_of_students(tmp_path):
    found = read(
        tmp_path,
        '"First name","Last name","ID number","Email address",Groups\n'
        "Ada,Lovelace,ada,ada@uni.example,A\n",
    ).students
    assert [(s.id, s.name, s.section) for s in found] == [("ada", "Ada Lovelace", "A")]


def test_one_person_twice_is_taken_once_and_two_persons_with_one_id_are_told(tmp_path):
    found = read(
        tmp_path, PLAIN + "ada,Lovelace,Ada,\nADA,Byron,George,\nbob,B,Bob,ada@uni.example"
    )
    assert [s.id for s in found.students] == ["ada", "bob"]
    assert [note.startswith("line 3: ") for note in found.notes] == [True, False]
    assert "ada@uni.example" in found.notes[1], "an address that two share"
    assert [refusal.partition(":")[0] for refusal in found.refused] == ["line 4"]


def test_old_encodings_are_read_and_told(tmp_path):
    found = read(tmp_path, "id,name\nkurt,Kurt Gödel\n".encode("cp1252"))
    assert found.students[0].last_name == "Gödel"
    assert "Windows-1252" in found.notes[0]


@pytest.mark.parametrize("text", NO_LISTS.values(), ids=NO_LISTS)
def test_what_is_no_list_is_refused(tmp_path, text):
    with pytest.raises(BadTable, match="class.csv"):
        read(tmp_path, text)


@pytest.mark.parametrize("id", ["../../etc", "a/b", "a+b", "ada lovelace", ".ssh"])
def test_an_id_never_leads_out_of_its_folder(tmp_path, id):
    found = read(tmp_path, f"id,name\n{id},Somebody\n")
    assert not set(found.students[0].id) & set("/+ ") and found.students[0].id[0] != "."
    assert id in found.notes[0]


def test_a_new_list_adds_and_takes_nobody_out(tmp_path):
    add_students(tmp_path, [ADA, Student("grace", "Hopper", "Grace")])
    added, missing = add_students(tmp_path, [Student("ada", "King", ""), Student("emmy", "N", "E")])
    assert ([s.id for s in added], [s.id for s in missing]) == (["emmy"], ["grace"])
    by_id = {s.id: s for s in known_students(tmp_path)}
    assert by_id["ada"] == Student("ada", "King", "Ada", "ada@uni.example"), "what is known stays"


def test_init_makes_a_course_and_again_changes_nothing(tmp_path, monkeypatch):
    """Also typed as .venv/bin/course, where nothing else of .venv is on the path."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    folder, lines = tmp_path / "course", tmp_path / "class.csv"
    lines.write_text(PLAIN)
    words = [str(folder), "--students", str(lines)]
    assert CliRunner().invoke(init, words).exit_code == 0
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.suffix != ".db"}
    (folder / "local_config.py").write_text(mine := before[folder / "local_config.py"].decode())
    assert CliRunner().invoke(init, words).exit_code == 0
    assert {p: p.read_bytes() for p in before} == before and mine
    with opened(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        assert [(s.id, s.last_name, s.email) for s in gradebook.students] == [
            ("ada", "Lovelace", "ada@uni.example")
        ]


def test_init_refuses_a_bad_list_before_it_makes_anything(tmp_path):
    (tmp_path / "class.csv").write_text("x,y\n1,2\n")
    done = CliRunner().invoke(
        init, [str(tmp_path / "course"), "--students", str(tmp_path / "class.csv")]
    )
    assert done.exit_code == 2 and not (tmp_path / "course").exists()


def saved_without(column: str, path: Path) -> None:
    """As a spreadsheet does after the column was deleted in it."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(
            file, [name for name in lines[0] if name != column], extrasaction="ignore"
        )
        table.writeheader()
        table.writerows(lines)


def test_a_class_list_that_lost_its_ids_is_refused(tmp_path):
    """Else 7001, ada@uni.example, would be a new student ada."""
    add_students(tmp_path, [Student("7001", "Lovelace", "Ada", "ada@uni.example")])
    saved_without("id", tmp_path / "students.csv")
    with pytest.raises(BadTable, match="`id`"):
        known_students(tmp_path)


def test_a_new_list_without_ids_makes_no_second_student_of_anybody(tmp_path):
    """Where nobody is known yet, the ids are made of the addresses."""
    fresh, ids = tmp_path / "fresh.csv", tmp_path / "ids.csv"
    fresh.write_text("name,email\nAda Lovelace,ada@uni.example\n")
    ids.write_text("id,name,email\n7001,Ada Lovelace,ada@uni.example\n")
    for folder, first, code in (("one", fresh, 0), ("two", ids, 2)):
        words = [str(tmp_path / folder), "--students"]
        assert CliRunner().invoke(init, [*words, str(first)]).exit_code == 0
        done = CliRunner().invoke(init, [*words, str(fresh)])
        assert done.exit_code == code, done.output
        assert ("7001" in done.output) == (code == 2), "the id that she has"
        assert len(known_students(tmp_path / folder)) == 1
