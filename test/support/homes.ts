import { GateLink } from '../../packages/server/src/gates/gate-link.ts'

const names = ['ada', 'ben', 'cas', 'dan', 'eva']

/** Names of agents whose home each of two gate processes is. */
export const homes = (): readonly [readonly string[], readonly string[]] => {
  const link = new GateLink({ index: 0, count: 2, send: () => {} })
  return [
    names.filter((name) => link.homeOf(name) === 0),
    names.filter((name) => link.homeOf(name) === 1),
  ]
}
