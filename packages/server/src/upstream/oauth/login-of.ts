import type { LoginOf } from '../../ports/upstream-login.ts'

/** Under which a login is kept. No name has a slash. */
export const keyOf = ({ name, agent }: LoginOf): string =>
  agent === null ? name : `${name}/${agent}`

/** Given by a person to log in. */
export const commandOf = ({ name, agent }: LoginOf): string =>
  `gatehouse upstream login ${name}${agent === null ? '' : ` --as ${agent}`}`
