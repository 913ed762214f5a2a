"""Runs the example's agent on a model that says something wrong until it is told so. Prints what it is told, an empty
line, and the output that was let through."""

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from screwtape_pydantic_ai import JUDGE, Work, writer

WRONG = "The crew size was 5."


def mending(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Says the right thing to whoever comes back with a reason."""
    (asked,) = [part.content for part in messages[-1].parts if isinstance(part, UserPromptPart)]
    told = asked != JUDGE["task"]
    if told:
        print(asked, end="\n\n")
    return ModelResponse([TextPart(JUDGE["agent_output"] if told else WRONG)])


work = Work(JUDGE["task"], JUDGE["evidence"], JUDGE["criteria"])
print(writer.run_sync(work.task, deps=work, model=FunctionModel(mending)).output)
