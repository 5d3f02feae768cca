import type { Capability } from '../../ports/capability.ts'
import { blame } from './blame.ts'
import { branch } from './branch.ts'
import { clone } from './clone.ts'
import { commit } from './commit.ts'
import { diff } from './diff.ts'
import { init } from './init.ts'
import { log } from './log.ts'
import { merge } from './merge.ts'
import { pull } from './pull.ts'
import { push } from './push.ts'
import { restore } from './restore.ts'
import { show } from './show.ts'
import { status } from './status.ts'

/** Real git, on the repositories in an agent's folders. */
export const gitCapabilities: readonly Capability[] = [
  blame,
  branch,
  clone,
  commit,
  diff,
  init,
  log,
  merge,
  pull,
  push,
  restore,
  show,
  status,
]
