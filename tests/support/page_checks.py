"""What a notebook's page is checked for, and answers that have everything to check."""

from __future__ import annotations

from collections.abc import Collection

from axe_playwright_python.sync_playwright import Axe
from jupyter_page import NotebookPage

# the last of them is what the next notebook of this server is shown in
THEMES = {"contrast": "JupyterLab Dark High Contrast", "dark": "JupyterLab Dark", "light": "JupyterLab Light"}
RICH = (
    """Here is a **whole** answer, with `code`, a [link](http://example.invalid) and a list:

1. one
2. two

```python
def area(radius: float) -> float:
    return 3.14159 * radius**2  # a comment that is long enough to need a box of its own that scrolls to the right
```

| river | length in km | """
    + " | ".join(f"measured in {year}" for year in range(2001, 2013))
    + """ |
|---|---:|"""
    + "---|" * 12
    + """
| Glomma | 621 | """
    + " | ".join("yes" for _ in range(12))
    + r""" |

Inline $a^2 + b^2 = c^2$ and alone:

$$\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}$$

> Quoted, and it costs $5 to $10.
"""
)
FOREIGN = (
    """שלום עולם: זה מספר 42 באמצע.

مرحبا بالعالم، هذا نص طويل من اليمين إلى اليسار.

天空为什么是蓝色的？"""
    + "因为阳光被空气分子散射，短波长的光散射得更多。" * 8
    + "\n\n"
    + "x" * 400
)
OURS = ".jp-OutputArea-output:has([class*='jctx'])"
# rules about a page as a whole, which is not ours: headings, too, follow upon the front end's title and the cells'
WHOLE_PAGE = (
    "region", "bypass", "document-title", "heading-order", "html-has-lang", "page-has-heading-one", "skip-link",
)  # fmt: skip
OVERFLOWS = """() => {
    const found = [];
    for (const output of document.querySelectorAll('.jp-OutputArea-output')) {
        if (!output.querySelector('[class*=jctx]') || !output.checkVisibility()) continue;
        const right = Math.min(output.getBoundingClientRect().right, innerWidth) + 1;
        const scrolls = part => /auto|scroll|hidden/.test(getComputedStyle(part).overflowX);
        for (const part of output.querySelectorAll('*')) {
            if (!part.checkVisibility() || part.closest('.jctx-hidden, .jctx-tip, mjx-assistive-mml')) continue;
            let box = part.parentElement;
            while (box !== output && !scrolls(box)) box = box.parentElement;
            if (box === output && part.getBoundingClientRect().right > right)
                found.push(`${part.outerHTML.slice(0, 150)} ends at ${part.getBoundingClientRect().right} of ${right}`);
            if (/BUTTON|LABEL|SELECT/.test(part.tagName) && part.scrollWidth > part.clientWidth + 1 && part.innerText)
                found.push(`${part.outerHTML.slice(0, 150)} is cut: ${part.scrollWidth} in ${part.clientWidth}`);
        }
    }
    return found;
}"""
LOOKED_AT = ("color-contrast", "aria-meter-name", "button-name")


def complaints(notebook: NotebookPage, looked_at: Collection[str] = LOOKED_AT) -> str:
    """What axe finds wrong in our outputs, in words; the rules ``looked_at`` must have found something to check."""
    rules = {name: {"enabled": False} for name in WHOLE_PAGE}
    # JupyterLab's body has no height, and whatever is cut off by its box is hidden to axe: nothing would be looked at
    notebook.page.evaluate("() => { document.body.style.height = '100vh' }")
    places = {"include": [[OURS]], "exclude": [[".highlight pre span"]]}  # code has the theme's own colours
    for _ in range(10):  # a page that has just got another theme or size may not be drawn yet
        found = Axe().run(notebook.page, context=places, options={"rules": rules})
        passed = {rule["id"] for rule in found.response["passes"]}
        if passed >= set(looked_at):
            break
        notebook.page.wait_for_timeout(300)
    assert passed >= set(looked_at), passed
    unsure = [
        node["html"]
        for rule in found.response["incomplete"]
        for node in rule["nodes"]
        for check in node["any"]
        if (check["data"] or {}).get("messageKey") == "equalRatio"  # a colour on itself is no violation to axe
    ]
    return "\n".join([*unsure, *([found.generate_report()] if found.violations_count else [])])
