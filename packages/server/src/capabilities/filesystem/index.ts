import type { Capability } from '../../ports/capability.ts'
import { append } from './append.ts'
import { copy } from './copy.ts'
import { deletePath } from './delete.ts'
import { edit } from './edit.ts'
import { list } from './list.ts'
import { mkdir } from './mkdir.ts'
import { move } from './move.ts'
import { read } from './read.ts'
import { restore } from './restore.ts'
import { search } from './search.ts'
import { searchContent } from './search-content.ts'
import { stat } from './stat.ts'
import { unwatch } from './unwatch.ts'
import { watch } from './watch.ts'
import { write } from './write.ts'

/** Capabilities of an agent on the files in its folders. */
export const filesystemCapabilities: readonly Capability[] = [
  append,
  copy,
  deletePath,
  edit,
  list,
  mkdir,
  move,
  read,
  restore,
  search,
  searchContent,
  stat,
  unwatch,
  watch,
  write,
]
