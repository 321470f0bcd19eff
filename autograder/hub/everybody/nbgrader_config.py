"""What nbgrader has to know on every user's server of the hub."""

import os

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = os.environ["COURSE_ID"]
c.Exchange.root = os.environ["EXCHANGE"]
if os.environ["COURSE"]:  # whoever teaches, wherever their server was started
    c.CourseDirectory.root = os.environ["COURSE"]

# The exchange belongs to whoever teaches; students write to its inbound alone.
for name, plugin in {
    "submit": "Submit",
    "fetch_assignment": "FetchAssignment",
    "fetch_feedback": "FetchFeedback",
    "list": "List",
}.items():
    c.ExchangeFactory[name] = f"autograder.classroom.nbgrader_exchange.{plugin}"
