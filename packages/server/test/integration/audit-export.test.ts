import { execFileSync, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import {
  createAuditExports,
  type RunningExports,
  type TargetSettings,
} from '@gatehouse/server/audit-export/create-audit-exports'
import { verifyOffline } from '@gatehouse/server/log/offline'
import { createOutbound } from '@gatehouse/server/outbound/create-outbound'
import { makeCertificate } from '@gatehouse/testkit/mail-server/certificate'
import { foreignProgram, hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { silent } from '../../src/log/testing.ts'
import { GitServer } from '../git/git-server.ts'
import { type Bench, openBench } from '../kit/log-bench.ts'
import { openS3Server, signatureOf } from '../kit/s3-server.ts'
import { SshServer } from '../kit/ssh-server.ts'

const newFolder = (): string => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-export-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

const openExports = (
  bench: Bench,
  target: TargetSettings,
  {
    port = null,
    secret = 'S3RVER',
    environment = {},
  }: { port?: number | null; secret?: string; environment?: Record<string, string> } = {},
): RunningExports =>
  createAuditExports({
    targets: [target],
    source: bench.log.exportSource,
    outbound: createOutbound(
      {
        'outbound.private_targets': port === null ? [] : [`127.0.0.1:${port}`],
        'outbound.ports': [],
        'outbound.ca_file': null,
        'outbound.proxy': null,
        'outbound.proxy_auth_file': null,
        'outbound.no_proxy': [],
        origins: {},
      },
      { ownPorts: () => new Set() },
    ),
    secrets: { use: (_use, work) => work(secret) },
    clock: bench.clock,
    log: silent,
    folder: newFolder(),
    node: 'main',
    environment: { PATH: process.env['PATH'] ?? '', ...environment },
    runs: true,
  })

/** Signs where the log is, as the service does every minute. */
const sign = async (bench: Bench): Promise<void> => {
  for await (const _ of bench.log.export()) break
}

const statusOf = async (exports: RunningExports) => (await exports.list())[0]

/** Moves the clock until the target has what is signed, or its delivery has failed again. */
const settled = async (bench: Bench, exports: RunningExports, failure: unknown = null) => {
  await expect
    .poll(
      async () => {
        bench.clock.move(60_000)
        return statusOf(exports)
      },
      { interval: 20 },
    )
    .toMatchObject(failure === null ? { failure: null, lag_entries: 0 } : { failure })
}

const filesIn = (folder: string): string[] =>
  fs
    .readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .sort()

test('a folder gets every entry once, also over restarts and while it was away', async () => {
  await using bench = await openBench()
  const parent = newFolder()
  const folder = path.join(parent, 'archive')
  const target = { name: 'archive', kind: 'files', folder } as const
  await bench.fill(120)
  await sign(bench)
  {
    await using exports = openExports(bench, target)
    await settled(bench, exports)
    expect(exports.positions()).toEqual([{ name: 'archive', next: 120 }])
    expect(await exports.test('archive')).toMatchObject({ delivered: true })
  }
  fs.renameSync(folder, `${folder}-away`)
  fs.writeFileSync(folder, 'in its place')
  await bench.fill(30)
  await sign(bench)
  {
    await using exports = openExports(bench, target)
    await settled(bench, exports, expect.any(String))
    expect(exports.failure()).toContain('audit target archive')
    expect(await statusOf(exports)).toMatchObject({ next: 120, lag_entries: 30 })
    expect(await exports.test('archive')).toMatchObject({ delivered: false })
    fs.rmSync(folder)
    fs.renameSync(`${folder}-away`, folder)
    await settled(bench, exports)
    expect(exports.failure()).toBeNull()
  }
  expect(filesIn(folder)).toEqual(['main-0000000000000000.jsonl', 'main-0000000000000120.jsonl'])
  expect(await verifyOffline({ exportFile: folder })).toMatchObject({
    integrity: 'verified',
    entries: 150,
  })
})

type Syslog = AsyncDisposable & { readonly port: number; readonly file: string }

/** Debian's rsyslog, which takes RFC 5425 and writes the messages alone. */
const startRsyslog = async (folder: string): Promise<Syslog & { caFile: string }> => {
  const { certFile, keyFile } = await makeCertificate(folder)
  const [file, portFile] = [path.join(folder, 'messages'), path.join(folder, 'port')]
  const configuration = path.join(folder, 'rsyslog.conf')
  fs.writeFileSync(
    configuration,
    `global(workDirectory="${folder}" maxMessageSize="256k" defaultNetstreamDriver="gtls"
  defaultNetstreamDriverCAFile="${certFile}" defaultNetstreamDriverCertFile="${certFile}"
  defaultNetstreamDriverKeyFile="${keyFile}")
module(load="imtcp" streamDriver.name="gtls" streamDriver.mode="1" streamDriver.authMode="anon")
input(type="imtcp" port="0" address="127.0.0.1" listenPortFileName="${portFile}")
template(name="received" type="string" string="%pri% %app-name% %msgid% %timestamp:::date-rfc3339% %msg%\\n")
action(type="omfile" file="${file}" template="received")
`,
  )
  const child = spawn(
    '/usr/sbin/rsyslogd',
    ['-n', '-f', configuration, '-i', path.join(folder, 'pid')],
    { stdio: 'ignore' },
  )
  // The file is there before the port is in it.
  const port = () => Number(fs.existsSync(portFile) ? fs.readFileSync(portFile, 'utf8') : '')
  await expect.poll(port).toBeGreaterThan(0)
  return {
    port: port(),
    file,
    caFile: certFile,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

describe.skipIf(!hasProgram('rsyslog'))('syslog over TLS', () => {
  test('rsyslog has every entry as it was hashed, and the signed heads', async () => {
    await using bench = await openBench()
    await bench.fill(400)
    await sign(bench)
    await using server = await startRsyslog(newFolder())
    const target = {
      ...({ name: 'siem', kind: 'syslog', host: 'localhost', client: null } as const),
      ...{ port: server.port, caFile: server.caFile },
    }
    await using exports = openExports(bench, target)
    await settled(bench, exports)
    await expect
      .poll(() => fs.readFileSync(server.file, 'utf8').split('\n').length)
      .toBeGreaterThan(401)
    const lines = fs.readFileSync(server.file, 'utf8').trim().split('\n')
    const received = lines.filter((line) => line.startsWith('110 gatehouse entry '))
    const bodies = received.map((line) => {
      const [, , , timestamp, ...rest] = line.split(' ')
      const { body } = JSON.parse(rest.join(' ')) as { body: string }
      expect(Date.parse(timestamp ?? '')).toBe(
        Date.parse((JSON.parse(body) as { timestamp: string }).timestamp),
      )
      return body
    })
    expect(bodies).toEqual(bench.entries().map(({ body }) => body))
    expect(lines.filter((line) => line.startsWith('110 gatehouse checkpoint '))).toHaveLength(1)
    expect(await exports.test('siem')).toMatchObject({ delivered: true })
    // Whoever has another certificate is not trusted with the log.
    const other = (await makeCertificate(newFolder())).certFile
    await using wary = openExports(bench, { ...target, name: 'wary', caFile: other })
    expect(await wary.test('wary')).toMatchObject({
      delivered: false,
      detail: expect.stringMatching(/SELF_SIGNED|UNABLE_TO|DEPTH_ZERO|SIGNATURE/),
    })
  })
})

const s3rver = foreignProgram('s3rver')

describe.skipIf(s3rver === null)('storage that speaks S3', () => {
  test('a bucket gets the parts, from a key that it knows', async () => {
    await using bench = await openBench()
    await bench.fill(80)
    await sign(bench)
    const folder = newFolder()
    const child = spawn(
      s3rver?.node ?? '',
      [
        s3rver?.file('s3rver/bin/s3rver.js') ?? '',
        ...['--directory', folder, '--port', '0', '--address', '127.0.0.1'],
        ...['--configure-bucket', 'audit'],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    onTestFinished(() => void child.kill('SIGKILL'))
    let said = ''
    child.stdout.on('data', (piece: Buffer) => {
      said += piece.toString()
    })
    await expect.poll(() => /:(\d+)\s/.exec(said)?.[1]).toBeDefined()
    const port = Number(/:(\d+)\s/.exec(said)?.[1])
    const target = {
      ...({ name: 'bucket', kind: 's3', bucket: 'audit', prefix: 'gatehouse/' } as const),
      ...{
        url: `http://127.0.0.1:${port}`,
        region: 'us-east-1',
        accessKeyId: 'S3RVER',
        secret: 'key',
      },
    }
    {
      await using wrong = openExports(bench, { ...target, accessKeyId: 'NOBODY' }, { port })
      await settled(bench, wrong, expect.stringContaining('403 (InvalidAccessKeyId)'))
    }
    await using exports = openExports(bench, target, { port })
    await settled(bench, exports)
    const stored = path.join(folder, 'audit/gatehouse/main-0000000000000000.jsonl._S3rver_object')
    const exportFile = path.join(newFolder(), 'part.jsonl')
    fs.copyFileSync(stored, exportFile)
    expect(await verifyOffline({ exportFile })).toMatchObject({
      integrity: 'verified',
      entries: 80,
    })
    expect(await exports.test('bucket')).toMatchObject({ delivered: true })
    // No way around the guard: an address that nobody listed is not reached.
    await using guarded = openExports(bench, { ...target, name: 'guarded' })
    expect(await guarded.test('guarded')).toMatchObject({ delivered: false })
  })
})

/** Examples that the API reference of S3 has, with the signatures that it gives for them. */
const examples = [
  {
    request: ['GET', '/test.txt', { range: 'bytes=0-9' }],
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
  {
    request: [
      'PUT',
      '/test%24file.text',
      { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      'Welcome to Amazon S3.',
    ],
    signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  },
  {
    request: ['GET', '/?lifecycle', {}],
    signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  },
] as const

test('the test server computes the signatures that the reference of S3 publishes', () => {
  for (const { request, signature } of examples) {
    const [method, target, extra, body = ''] = request
    const headers = {
      ...extra,
      host: 'examplebucket.s3.amazonaws.com',
      'x-amz-content-sha256': hash('sha256', body),
      'x-amz-date': '20130524T000000Z',
    }
    const signed = signatureOf(
      { method, target, headers },
      {
        secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
        scope: '20130524/us-east-1/s3/aws4_request',
        names: Object.keys(headers).toSorted().join(';'),
      },
    )
    expect([target, signed]).toEqual([target, signature])
  }
})

test('a bucket that checks signatures takes the parts from the right secret alone', async () => {
  await using bench = await openBench()
  await bench.fill(80)
  await sign(bench)
  const keys = new Map([['AKIAEXAMPLE', 'the secret/of+the=bucket']])
  await using server = await openS3Server({ region: 'eu-west-1', keys })
  const { port } = server
  const target = {
    ...({ name: 'bucket', kind: 's3', bucket: 'audit', prefix: 'gatehouse/a.b_c-d/' } as const),
    ...{ url: `http://127.0.0.1:${port}`, region: 'eu-west-1', accessKeyId: 'AKIAEXAMPLE' },
    secret: 'key',
  }
  {
    await using wrong = openExports(bench, target, { port, secret: 'another secret' })
    await settled(bench, wrong, expect.stringContaining('403 (SignatureDoesNotMatch)'))
    expect(server.objects.size).toBe(0)
  }
  const secret = keys.get('AKIAEXAMPLE') ?? ''
  {
    const elsewhere = { ...target, name: 'elsewhere', region: 'us-east-1' }
    await using wrong = openExports(bench, elsewhere, { port, secret })
    expect(await wrong.test('elsewhere')).toMatchObject({
      delivered: false,
      detail: expect.stringContaining('AuthorizationHeaderMalformed'),
    })
  }
  await using exports = openExports(bench, target, { port, secret })
  await settled(bench, exports)
  const [[key, text] = ['', '']] = server.objects
  expect(decodeURIComponent(key)).toBe('/audit/gatehouse/a.b_c-d/main-0000000000000000.jsonl')
  const exportFile = path.join(newFolder(), 'part.jsonl')
  fs.writeFileSync(exportFile, text)
  expect(await verifyOffline({ exportFile })).toMatchObject({ integrity: 'verified', entries: 80 })
  expect(await exports.test('bucket')).toMatchObject({ delivered: true })
  expect(server.objects.size).toBe(1)
})

/** Commits of a git remote after two deliveries, with which the log verifies. */
const witnessed = async (
  remote: string,
  bare: string,
  environment: Record<string, string>,
): Promise<readonly string[]> => {
  await using bench = await openBench()
  await bench.fill(20)
  await sign(bench)
  const target = { name: 'witness', kind: 'git', remote, branch: 'witness' } as const
  await using exports = openExports(bench, target, { environment })
  await settled(bench, exports)
  await bench.fill(10)
  await sign(bench)
  await settled(bench, exports)
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', bare, ...args], { encoding: 'utf8' }).trim()
  const checkpointFile = path.join(newFolder(), 'kept')
  fs.writeFileSync(checkpointFile, git('show', 'witness:main.checkpoints'))
  expect(await verifyOffline({ directory: bench.directory, checkpointFile })).toMatchObject({
    integrity: 'verified',
    anchor: { kind: 'checkpoint', size: 30 },
  })
  return git('log', '--format=%s', 'witness').split('\n')
}

/** A home whose git trusts this authority and has this login for the host. */
const homeWith = (server: GitServer, login: string): Record<string, string> => {
  const home = newFolder()
  const store = path.join(home, 'credentials')
  fs.writeFileSync(store, `https://${login}@${server.host}\n`, { mode: 0o600 })
  fs.writeFileSync(
    path.join(home, '.gitconfig'),
    `[http]\n\tsslCAInfo = ${server.caFile}\n[credential]\n\thelper = store --file ${store}\n`,
  )
  return { HOME: home }
}

describe('witnesses', () => {
  const commits = ['Checkpoint 30', 'Checkpoint 20']

  test('a git remote over https gets the checkpoints, with the login that the user of the service has', async () => {
    await using server = await GitServer.open()
    const remote = server.create('witness.git')
    const home = homeWith(server, server.login)
    expect(await witnessed(remote, server.path('witness.git'), home)).toEqual(commits)
    expect(server.requests).toContain('POST /witness.git/git-receive-pack in')
  })

  test('a git remote over https that is not trusted, or lets nobody in, is a failure and no commit', async () => {
    await using server = await GitServer.open()
    const remote = server.create('witness.git')
    const target = { name: 'witness', kind: 'git', remote, branch: 'witness' } as const
    await using bench = await openBench()
    await bench.fill(5)
    await sign(bench)
    for (const environment of [{ HOME: newFolder() }, homeWith(server, 'robot:wrong')]) {
      await using exports = openExports(bench, target, { environment })
      await settled(bench, exports, expect.stringContaining('git ls-remote of https://'))
    }
    expect(server.requests.filter((request) => request.endsWith(' in'))).toEqual([])
  })

  test.skipIf(!hasProgram('sshd'))(
    'a git remote over ssh gets the checkpoints, by the key and the known hosts of the user',
    async () => {
      await using server = await SshServer.open()
      const { url, bare } = server.create('witness.git')
      expect(await witnessed(url, bare, server.environment)).toEqual(commits)
    },
  )

  test('a git repository gets the checkpoints as commits, and speaks against a log that was put back', async () => {
    await using bench = await openBench()
    await bench.fill(50)
    await bench.close()
    const kept = newFolder()
    fs.cpSync(bench.directory, kept, { recursive: true })
    await bench.reopen()
    await bench.fill(50)
    await sign(bench)
    const remote = path.join(newFolder(), 'witness.git')
    execFileSync('git', ['init', '--quiet', '--bare', remote])
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', remote, ...args], { encoding: 'utf8' })
    const target = { name: 'witness', kind: 'git', remote, branch: 'main' } as const
    {
      await using exports = openExports(bench, target)
      await settled(bench, exports)
      await bench.fill(10)
      await sign(bench)
      await settled(bench, exports)
      expect(exports.positions()).toEqual([])
    }
    expect(git('log', '--format=%s', 'main').trim().split('\n')).toEqual([
      'Checkpoint 110',
      'Checkpoint 100',
    ])
    const checkpointFile = path.join(newFolder(), 'kept')
    fs.writeFileSync(checkpointFile, git('show', 'main:main.checkpoints'))
    expect(await verifyOffline({ directory: bench.directory, checkpointFile })).toMatchObject({
      integrity: 'verified',
      anchor: { kind: 'checkpoint' },
    })
    await bench.close()
    fs.rmSync(bench.directory, { recursive: true })
    fs.cpSync(kept, bench.directory, { recursive: true })
    await bench.reopen()
    await bench.fill(3)
    await sign(bench)
    expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })
    await using exports = openExports(bench, target)
    await settled(bench, exports)
    expect(await bench.log.verify()).toMatchObject({
      integrity: 'failed',
      detail: expect.stringContaining('witness'),
    })
  })

  test('an address is sent the newest checkpoint until it takes it', async () => {
    await using bench = await openBench()
    await bench.fill(20)
    await sign(bench)
    const got: string[] = []
    let status = 503
    const server: Server = createServer((request, response) => {
      let text = ''
      request.on('data', (piece: Buffer) => {
        text += piece.toString()
      })
      request.on('end', () => {
        if (status === 200) got.push(`${request.headers.authorization} ${text}`)
        response.writeHead(status).end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/checkpoints`
    const target = { name: 'witness', kind: 'url', url, secret: 'token' } as const
    await using exports = openExports(bench, target, { port, secret: 'sesame-sesame' })
    await settled(bench, exports, expect.stringContaining('answered 503'))
    status = 200
    await settled(bench, exports)
    expect(got[0]).toMatch(/^Bearer sesame-sesame gatehouse\/audit\/main\n20\n/)
  })
})
