"""What tests of answers side by side share in a browser: the cells that show them."""

from __future__ import annotations

from page_checks import FOREIGN, RICH

SETUP = f"""
import threading, time
from jupyter_ctx.context.usage import Usage
from jupyter_ctx.display.answer.columns import AnswerColumns, Column
from jupyter_ctx.display.answer.footer import Footer
from jupyter_ctx.display.widgets.choice_bar import ChoiceBar
HEADS = ["openai/gpt-5.2 · t=0", "anthropic/claude-sonnet-4.5 · t=1", "local/smollm2"]
RICH, FOREIGN = {RICH!r}, {FOREIGN!r}
def footer(number):
    return Footer(HEADS[number], Usage(1200, 340 + number), 2.5 + number, 0.0042 * (number + 1), "stop")
def stream(texts, above=(), pause=0.01):
    view = AnswerColumns(HEADS[:len(texts)], above)
    view.begin()
    def answer(number):
        for at in range(0, len(texts[number]), 12):
            view.feed(number, texts[number][at:at + 12])
            time.sleep(pause)
        said = ["The answer was cut at max_tokens."]
        view.done(number, Column("", texts[number], "Let me think.", footer(number), said))
    workers = [threading.Thread(target=answer, args=(number,)) for number in range(len(texts))]
    for worker in workers: worker.start()
    for worker in workers: worker.join()
    return view
"""
SKY = "The sky is **blue** because air scatters short waves more.\\n\\n- one\\n- two"
BAR = """
bar = ChoiceBar(HEADS, view.choose)
bar.show()
bar.update(chosen)
"""
