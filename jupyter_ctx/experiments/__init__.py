"""Ask one prompt of many rows: priced before, resumable, and judged with honest statistics.

The way of a row, from the table to the result:

1. :mod:`.start` reads the table (``table.rows``), parses the template and makes the plan
   (``table.plan``): the prompt of each row in each arm, made once, with the digest under which its answer is stored.
   Then it tells the price (:mod:`.money`), asks where it is high, and begins the :class:`.run.Run` that its user holds.
2. The run finds the stored answers, and hands the other requests to the engine, in a thread of its own.
3. ``asking.engine`` decides which request starts when: the rate limiter of its endpoint says how many and how fast
   (``asking.rate_limiter``), and the budget whether there is money left (``models.cost_budget``).
4. A thread of the engine, or a process of an executor's, tries to get one answer, as :mod:`jupyter_ctx.session.ask`
   sends any single request. It returns what became of it, and never raises.
5. The engine settles the cost, tells the rate limiter, and tries again where another try may help. An answer that
   lasts is stored before it counts as done.
6. ``table.results`` makes a result of it: parsed by the schema, scored (:mod:`.scorers`), and judged by another model
   (:mod:`.judges`). The question of a judge starts at 3 like any other request.
7. The run keeps the result in its place and counts it (``asking.progress``), which the bar shows.

What was scored is counted by ``statistics`` (tallies, intervals, paired tests, sentences), and shown, compared, drawn
and exported by ``results``.
"""
