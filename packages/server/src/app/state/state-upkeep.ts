import type { Basics } from '../call/basics.ts'
import { goneValue } from './state-areas.ts'

const batch = 500
const deletedKeptMs = 7 * 86_400_000

/** Removes values that expired, and forgets what was deleted a week ago. */
export async function sweepState(deps: Pick<Basics, 'storage' | 'clock'>): Promise<void> {
  const nowMs = deps.clock.now()
  const wallMs = deps.clock.wall()
  for (let left = batch; left === batch; ) {
    const expired = await deps.storage.state.listExpired(nowMs, batch)
    left = expired.length
    if (left === 0) break
    await deps.storage.transaction(async (tx) => {
      for (const row of expired)
        await tx.state.replace(row, goneValue(row, wallMs, 'system'), {
          past: !row.area.startsWith('session:'),
        })
    })
  }
  await deps.storage.transaction((tx) => tx.state.removeDeleted(wallMs - deletedKeptMs, batch))
}
