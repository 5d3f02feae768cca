import type { Capability } from '../../ports/capability.ts'
import { deleteMail } from './delete.ts'
import { draft } from './draft.ts'
import { flag } from './flag.ts'
import { folders } from './folders.ts'
import { forward } from './forward.ts'
import { move } from './move.ts'
import { read } from './read.ts'
import { reply } from './reply.ts'
import { search } from './search.ts'
import { send } from './send.ts'

/** Mail: read from the replica, written through the buffer of the service proxy. */
export const emailCapabilities: readonly Capability[] = [
  deleteMail,
  draft,
  flag,
  folders,
  forward,
  move,
  read,
  reply,
  search,
  send,
]
