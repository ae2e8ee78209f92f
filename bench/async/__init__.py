"""What the async stack gains and costs. The folder's name is a keyword: imports are relative."""  # noqa: N999
