import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import type { ServiceUser } from './service-user.ts'

/** A program may have closed its folders to everybody, its own user included. */
const openAll = (folder: string): void => {
  chmodSync(folder, 0o700)
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (lstatSync(path).isDirectory()) openAll(path)
  }
}

/** Removes what a program left, once nothing of it runs. */
const removeAll = (folder: string): void => {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    openAll(folder)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The folder for what is temporary of one program, in place of a `/tmp` of its own. */
export class RunFolder implements Disposable {
  readonly path: string

  constructor(base: string, user: ServiceUser | null) {
    mkdirSync(base, { recursive: true, mode: 0o700 })
    this.path = mkdtempSync(join(base, 'run-'))
    if (user !== null) chownSync(this.path, user.uid, user.gid)
  }

  /** Remains of programs of a service that was killed. */
  static sweep(base: string): void {
    removeAll(base)
  }

  [Symbol.dispose](): void {
    removeAll(this.path)
  }
}
