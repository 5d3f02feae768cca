// In place of the engine, under its very profile: looks for what should not be there, and says what it found.
import { spawnSync } from 'node:child_process'
import {
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { createConnection } from 'node:net'

const order = JSON.parse(process.env.GATEHOUSE_ENGINE)
const { seek, port, foreignSocket, act } = JSON.parse(
  readFileSync(new URL('./probe.json', import.meta.url), 'utf8'),
)

const attempt = (work) => {
  try {
    return work() ?? 'done'
  } catch (cause) {
    return cause.code ?? String(cause)
  }
}

const reaching = (target) =>
  new Promise((resolve) => {
    try {
      const socket = createConnection(target, () => resolve('connected'))
      socket.once('error', (cause) => resolve(cause.code ?? String(cause)))
    } catch (cause) {
      resolve(cause.code ?? String(cause))
    }
  })

const report = {
  seen: Object.fromEntries(seek.map((path) => [path, attempt(() => readdirOrRead(path))])),
  root: readdirSync('/').sort(),
  opt: readdirSync('/opt').sort(),
  etc: attempt(() => readdirSync('/etc').sort()),
  environment: Object.keys(process.env).sort(),
  wrote: Object.fromEntries(
    ['/opt/worker/x', '/opt/engine/x', '/opt/model.gguf', '/etc/x', '/x', '/dev/x'].map((path) => [
      path,
      attempt(() => writeFileSync(path, 'x')),
    ]),
  ),
  shell: spawnSync('sh', ['-c', 'true']).error?.code ?? 'ran',
  processes: readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length,
  tcp: await reaching({ host: '127.0.0.1', port }),
  socket: await reaching({ path: foreignSocket }),
  model: attempt(() => statSync(order.file).size),
  status: Object.fromEntries(
    readFileSync('/proc/self/status', 'utf8')
      .split('\n')
      .filter((line) => /^(Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):/.test(line))
      .map((line) => line.split(':\t')),
  ),
}

function readdirOrRead(path) {
  return statSync(path).isDirectory() ? readdirSync(path) : readFileSync(path, 'utf8')
}

process.umask(0o177)
process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL')).resume()
writeFileSync('report.json', JSON.stringify(report))
const server = createServer((request, response) => {
  if (request.url !== '/health' && act === 'hog') {
    const kept = []
    for (;;) kept.push(Buffer.alloc(16 * 1024 * 1024, 1))
  }
  if (request.url !== '/health' && act === 'flood') {
    response.writeHead(200)
    const more = () => {
      while (response.write(Buffer.alloc(1024 * 1024, 'x')));
      response.once('drain', more)
    }
    return more()
  }
  const body = JSON.stringify({ busy: false, memory_bytes: 1 })
  response.writeHead(200).end(body)
})
server.listen('engine.sock', () => {
  if (act === 'link') {
    renameSync('engine.sock', 'own.sock')
    symlinkSync(foreignSocket, 'engine.sock')
    rmSync('own.sock')
  }
  process.stdout.write(`${JSON.stringify({ ready: true, context_tokens: 16, memory_bytes: 1 })}\n`)
})
