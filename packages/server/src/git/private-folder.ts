import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Files that all work trees of a repository share, and this one takes from the repository itself. */
const shared = ['objects', 'refs', 'packed-refs', 'logs', 'shallow']
const sharedInfo = ['exclude', 'attributes', 'sparse-checkout']

/** A folder of the service's own, gone when disposed. */
export class PrivateFolder implements Disposable {
  readonly path: string

  constructor(parent: string) {
    mkdirSync(parent, { recursive: true, mode: 0o700 })
    this.path = mkdtempSync(join(parent, 'run-'))
    // The folder above keeps others out; the child may be another user.
    chmodSync(this.path, 0o755)
  }

  /**
   * Becomes the common folder of a repository: its configuration is ours, all else leads into the repository.
   * Git finds nothing of the repository's own configuration, remotes, hooks or grafts.
   */
  standFor(gitFolder: string, config: Uint8Array): void {
    writeFileSync(join(this.path, 'config'), config, { mode: 0o444 })
    for (const name of shared) symlinkSync(`${gitFolder}/${name}`, join(this.path, name))
    mkdirSync(join(this.path, 'info'))
    for (const name of sharedInfo) {
      symlinkSync(`${gitFolder}/info/${name}`, join(this.path, 'info', name))
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}
