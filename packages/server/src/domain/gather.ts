/** After a turn of so few, the next one begins at once. */
const lonely = 2

/**
 * After a turn of many, their callers come back over several turns of the event loop: as long as each brings more, the next one
 * waits for them. A lone caller never waits. `before`: how many the last turn had; `waiting`: how many wait now. `nextTurn` resolves in the
 * next turn.
 */
export const gather = async (
  before: number,
  waiting: () => number,
  nextTurn: () => Promise<void>,
): Promise<void> => {
  if (before <= lonely) return
  for (let seen = 0; seen < waiting() && waiting() < before; ) {
    seen = waiting()
    await nextTurn()
  }
}
