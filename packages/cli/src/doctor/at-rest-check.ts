import { type Check, fail, fine } from './run-checks.ts'

/** Before the data is opened: what a start refuses or mends is named here while it still lies there. */
export const atRestCheck: Check = {
  name: 'Files',
  isCause: true,
  async run({ dataDir }) {
    const { lookAtRest } = await import('@gatehouse/server/at-rest')
    const found = lookAtRest(dataDir)
    if (found.length === 0) return fine('keys, certificates, checkpoints and store are undamaged')
    return fail(
      found.map(({ detail }) => detail).join('; '),
      [...new Set(found.map(({ fix }) => fix))].join('; '),
    )
  },
}
