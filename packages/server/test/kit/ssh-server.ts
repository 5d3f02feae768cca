import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '@gatehouse/testkit/free-ports'
import { programPath } from '@gatehouse/testkit/programs'

const keyIn = (file: string): string => {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file])
  return readFileSync(`${file}.pub`, 'utf8').trim()
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('data', () => resolve(true)).once('error', () => resolve(false))
    socket.once('close', () => resolve(false)).once('data', () => socket.destroy())
  })

/** A real `sshd` for the user of the tests, which takes one key, and the ssh of a user who has it. */
export class SshServer implements AsyncDisposable {
  readonly folder: string
  readonly port: number
  /** Environment of a user with the key of this server, and the server among its known hosts. */
  readonly environment: Readonly<Record<string, string>>
  readonly #child: ChildProcess

  private constructor(
    made: Pick<SshServer, 'folder' | 'port' | 'environment'>,
    child: ChildProcess,
  ) {
    this.folder = made.folder
    this.port = made.port
    this.environment = made.environment
    this.#child = child
  }

  static async open(): Promise<SshServer> {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-ssh-'))
    const [port = 0] = await freePorts(1)
    const inFolder = (name: string, text: string): string => {
      const file = join(folder, name)
      writeFileSync(file, text, { mode: 0o600 })
      return file
    }
    const hostKey = keyIn(join(folder, 'host-key'))
    const allowed = inFolder('allowed', `${keyIn(join(folder, 'user-key'))}\n`)
    const known = inFolder('known-hosts', `[127.0.0.1]:${port} ${hostKey}\n`)
    const server = inFolder(
      'sshd.conf',
      `ListenAddress 127.0.0.1:${port}\nHostKey ${join(folder, 'host-key')}\nAuthorizedKeysFile ${allowed}\nPasswordAuthentication no\nUsePAM no\nStrictModes no\nPidFile none\n`,
    )
    const client = inFolder(
      'ssh.conf',
      `IdentityFile ${join(folder, 'user-key')}\nIdentitiesOnly yes\nUserKnownHostsFile ${known}\nGlobalKnownHostsFile none\nStrictHostKeyChecking yes\n`,
    )
    // OpenSSH looks for these in the home that the machine has for the user, wherever HOME says it is.
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'ssh'), `#!/bin/sh\nexec /usr/bin/ssh -F ${client} "$@"\n`)
    chmodSync(join(bin, 'ssh'), 0o755)
    if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
    const child = spawn(programPath('sshd'), ['-D', '-e', '-f', server], { stdio: 'ignore' })
    while (!(await answers(port)))
      if (child.exitCode !== null) throw new Error(`sshd ended with ${child.exitCode}`)
    const environment = { HOME: folder, PATH: `${bin}:${process.env['PATH'] ?? ''}` }
    return new SshServer({ folder, port, environment }, child)
  }

  /** A bare repository, and its address. */
  create(name: string): { readonly bare: string; readonly url: string } {
    const bare = join(this.folder, name)
    execFileSync('git', ['init', '--quiet', '--bare', bare])
    return { bare, url: `ssh://${userInfo().username}@127.0.0.1:${this.port}${bare}` }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null) {
      const ended = once(this.#child, 'exit')
      this.#child.kill('SIGTERM')
      await ended
    }
    rmSync(this.folder, { recursive: true, force: true })
  }
}
