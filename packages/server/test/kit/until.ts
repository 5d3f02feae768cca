import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'

/** Turns of the loop in which most of what was begun in this process ends. */
const turnsMax = 20

/**
 * Resolves once `holds` does. Looks in each turn of the loop at first, and then ever less often: what takes longer waits
 * for another process or a timer, which needs the processor more than a loop that only looks.
 */
export const until = async (holds: () => boolean): Promise<void> => {
  for (let turns = 0; !holds(); turns += 1)
    await (turns < turnsMax ? nextTurn() : pause(Math.min(turns / 10, 20)))
}
