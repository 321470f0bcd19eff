"""What in a page of HTML does something, and what of it is shown."""

import re
from html.parser import HTMLParser

_ACTING = "script iframe object embed form input button base meta link svg math style video audio"
ACTING = _ACTING.split()


class Acts(HTMLParser):
    """What in a page does something by itself, or when it is clicked."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._in_script = False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self._in_script = tag == "script"
        if tag in ACTING:
            self.found.append(f"{tag} {dict(attributes)}")
        for name, value in attributes:
            address = re.sub(r"[\s\x00-\x1f]", "", value or "").lower()
            goes = name in ("href", "src", "action", "xlink:href", "srcdoc", "data")
            safe = address.startswith(("#", "http:", "https:", "mailto:", "data:image/png;", "/"))
            if name.startswith("on") or name in ("style", "srcset") or (goes and not safe):
                self.found.append(f"{tag} {name}={value}")

    def handle_data(self, data):
        if self._in_script:
            self.found[-1] += data

    def handle_endtag(self, tag):
        self._in_script = False
