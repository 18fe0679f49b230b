// The dialog of a new game begins with the settings of the present one.

// form: of the dialog; timeLimits: its time limits. The game of a record says nothing about the user's settings, but the
// engine has a rank and a time for a move there too.
export function suggest(form, timeLimits, state) {
  select(form.rank, state.rank);
  if (state.seconds !== null) form.seconds.value = state.seconds;
  if (state.isRecord) return;
  if (state.width === state.height) {
    if (!has(form.size, state.width)) form.size.add(new Option(`${state.width} × ${state.width}`, state.width));
    select(form.size, state.width);
  }
  // Who has the colour chosen by chance wants that again.
  if (form.colour.value !== "random") select(form.colour, state.humans.length === 2 ? "both" : state.humans[0]);
  select(form.handicap, state.handicap);
  select(form.rules, state.rules);
  form.komi.value = state.isUsualKomi ? "" : state.komi;
  timeLimits.suggest(state.clock);
}

const has = (list, value) => [...list.options].some((option) => option.value === String(value));

function select(list, value) {
  if (has(list, value)) list.value = String(value);
}
