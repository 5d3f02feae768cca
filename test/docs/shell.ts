import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Placeholders of a page are variables of its shell: `appr-…` is `$appr`, `appr-2…` is `$appr2`, and `TOKEN=…` keeps its value. */
export const fillPlaceholders = (text: string): string =>
  text
    .replaceAll(/\b([a-z]+)-(\d?)…/g, (_, name, number) => `\${${name}${number}}`)
    .replaceAll(/\b([A-Z_]+)=…/g, (_, name) => `${name}=$${name}`)

export type Output = { readonly failed: boolean; readonly stdout: string; readonly stderr: string }

/** One shell for a page: what a block sets, later blocks have. */
export class Shell implements Disposable {
  readonly folder: string
  readonly #child: ChildProcessWithoutNullStreams
  #steps = 0
  #said = ''

  constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.folder = folder
    this.#child = spawn('bash', ['--noprofile', '--norc', '-euo', 'pipefail'], {
      cwd: folder,
      env: { ...env },
      // A group of its own: what a page leaves running in the background ends with its shell.
      detached: true,
    })
    this.#child.stdout.on('data', (chunk) => {
      this.#said += chunk
    })
    this.#child.stdin.on('error', () => {})
  }

  /** Runs a block. The first command that fails ends the shell. */
  async run(text: string): Promise<Output> {
    this.#steps += 1
    const [script, out, err] = ['sh', 'out', 'err'].map((end) =>
      join(this.folder, `.step-${this.#steps}.${end}`),
    ) as [string, string, string]
    writeFileSync(script, fillPlaceholders(text))
    const done = `done ${this.#steps}`
    const child = this.#child
    const failed = await new Promise<boolean>((resolve) => {
      const look = () => {
        if (!this.#said.includes(done)) return
        child.stdout.off('data', look)
        child.off('exit', end)
        resolve(false)
      }
      const end = () => resolve(true)
      child.stdout.on('data', look)
      child.once('exit', end)
      child.stdin.write(`source ${script} >${out} 2>${err} </dev/null\necho '${done}'\n`)
    })
    return { failed, stdout: readFileSync(out, 'utf8'), stderr: readFileSync(err, 'utf8') }
  }

  [Symbol.dispose](): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL')
    } catch {
      // All of it has ended.
    }
  }
}
