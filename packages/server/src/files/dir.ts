import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
} from 'node:fs'
import { identityAt, identityOf } from './identity.ts'

const openFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Whether an open folder can be used as the start of a path, which nobody can swap underneath. */
export const descriptorPathsWork = existsSync('/proc/self/fd')

/** Where this `/proc` has our descriptors, without the link `self`, which every look would follow. */
const descriptors = descriptorPathsWork ? `/proc/${readlinkSync('/proc/self')}/fd` : ''

/**
 * An open folder. `at` goes before a name to address it: through the descriptor where the system lets
 * us, else by path, which `holds` then compares with what is open.
 */
export class Dir {
  readonly fd: number
  readonly at: string
  readonly #byPath: boolean

  private constructor(fd: number, path: string, byPath: boolean) {
    this.fd = fd
    this.at = byPath ? `${path}/` : `${descriptors}/${fd}/`
    this.#byPath = byPath
  }

  /** @SECURITY `O_NOFOLLOW`: a link in the place of a folder fails; confinement.test.ts, swapper.test.ts. */
  static open(path: string, byPath: boolean): Dir {
    return new Dir(openSync(path, openFlags), path, byPath)
  }

  child(name: string): Dir {
    return Dir.open(this.at + name, this.#byPath)
  }

  /** The same folder under a descriptor of its own. */
  again(): Dir {
    return Dir.open(this.#byPath ? this.at.slice(0, -1) : this.at, this.#byPath)
  }

  /** Without descriptor paths: whether the path still leads to what was opened. Weaker, and too late by a moment. */
  holds(): boolean {
    if (!this.#byPath) return true
    return identityAt(this.at.slice(0, -1)) === identityOf(this.fd)
  }

  /** Where the folder that is open lies now. Without descriptor paths: where its path leads. */
  place(): string {
    const path = this.at.slice(0, -1)
    return this.#byPath ? realpathSync(path) : readlinkSync(path)
  }

  device(): number {
    return fstatSync(this.fd).dev
  }

  close(): void {
    closeSync(this.fd)
  }
}

/** The mount an open file belongs to; null where the system does not say. */
export const mountOf = (fd: number): string | null => {
  try {
    return /^mnt_id:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1] ?? null
  } catch {
    return null
  }
}
