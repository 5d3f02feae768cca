import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'

/** Finding of a look, or what says that there is none yet. */
type Sought<T> = T | false | null | undefined

/** Turns of the loop in which most of what was begun in this process ends. */
const turnsMax = 20
const pauseMsMax = 100

/**
 * Resolves with what `look` finds as soon as it finds anything; the limit of the test ends it. Looks in each turn of the loop at
 * first, and then ever less often: what takes longer waits for another process or a timer, which needs the processor more
 * than a loop that only looks.
 */
export const until = async <T>(look: () => Sought<T> | Promise<Sought<T>>): Promise<T> => {
  for (let turns = 0; ; turns += 1) {
    const found = await look()
    if (found !== undefined && found !== null && found !== false) return found
    await (turns < turnsMax ? nextTurn() : pause(Math.min(turns / 10, pauseMsMax)))
  }
}
