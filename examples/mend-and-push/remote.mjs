import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'

const environment = {
  PATH: process.env.PATH,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ana',
  GIT_AUTHOR_EMAIL: 'ana@example.org',
  GIT_COMMITTER_NAME: 'Ana',
  GIT_COMMITTER_EMAIL: 'ana@example.org',
}

const git = (cwd, ...args) =>
  execFileSync('git', args, { cwd, env: environment, encoding: 'utf8', stdio: 'pipe' }).trim()

/** A project of two files; its test fails. */
const makeProject = (folder) => {
  const [bare, work] = [join(folder, 'app.git'), join(folder, 'work')]
  for (const path of [bare, work]) mkdirSync(path, { recursive: true })
  git(bare, 'init', '--quiet', '--bare', '--initial-branch=main')
  git(bare, 'config', 'http.receivepack', 'true')
  git(work, 'init', '--quiet', '--initial-branch=main')
  writeFileSync(join(work, 'add.sh'), 'echo $(($1 - $2))\n')
  writeFileSync(join(work, 'test.sh'), 'test "$(sh add.sh 2 3)" = 5 && echo passed\n')
  git(work, 'add', '--all')
  git(work, 'commit', '--quiet', '--message=Add numbers')
  git(work, 'push', '--quiet', bare, 'main')
  return bare
}

const answer = (folder, request, response) => {
  const url = new URL(request.url, 'http://remote')
  const child = spawn('git', ['http-backend'], {
    env: {
      ...environment,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method,
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      GIT_PROTOCOL: request.headers['git-protocol'] ?? '',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const isPacked = request.headers['content-encoding'] === 'gzip'
  const body = isPacked ? request.pipe(createGunzip()) : request
  body.pipe(child.stdin)
  const chunks = []
  child.stdout.on('data', (chunk) => chunks.push(chunk))
  child.on('close', () => {
    const bytes = Buffer.concat(chunks)
    const end = bytes.indexOf('\r\n\r\n')
    const lines = bytes.toString('latin1', 0, end).split('\r\n')
    const headers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s, 2)))
    response.writeHead(Number.parseInt(headers.Status ?? '200', 10), headers)
    response.end(bytes.subarray(end + 4))
  })
}

/** Serves the project by http on a port of this machine. */
export const openRemote = async (folder) => {
  const bare = makeProject(folder)
  const server = createServer((request, response) => answer(folder, request, response))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const target = `127.0.0.1:${server.address().port}`
  return {
    target,
    url: `http://${target}/app.git`,
    head: () => git(bare, 'rev-parse', 'main'),
    close: () => server.closeAllConnections() ?? server.close(),
  }
}
