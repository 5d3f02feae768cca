/** One line, as wide as a list or a notice can show. */
export const callTextMax = 200

type Fields = Readonly<Record<string, unknown>>

const unseen = /[\p{C}\p{Zl}\p{Zp}]/gu

const escaped = (text: string): string =>
  text.replace(unseen, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)

/** Credentials that a URL or a command line carries, and the query of a URL, which often is one. */
const withoutCredentials = (text: string): string =>
  text
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#@]*@/gi, '$1***@')
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s?#]*)\?[^\s#]*/gi, '$1?…')
    .replace(/\b(authorization:\s*(?:\w+\s+)?|bearer\s+)\S+/gi, '$1***')
    .replace(
      /\b((?:[\w-]*(?:pass(?:word|wd|phrase)?|token|secret|api[_-]?key|credential))(?:=|:\s*))\S+/gi,
      '$1***',
    )

/** A value as the log has it: secret ones are keyed hashes there, and long ones are cut. */
function toText(value: unknown): string {
  if (typeof value === 'string') return value.startsWith('hmac-sha256:') ? '' : value
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'object' || value === null) return ''
  const cut = (value as Fields)['$cut']
  return typeof cut === 'string' ? `${cut}…` : ''
}

const toList = (value: unknown): string =>
  (Array.isArray(value) ? value.map(toText) : [toText(value)])
    .filter((text) => text !== '')
    .join(', ')

const joined = (parts: readonly string[], by = ' '): string =>
  parts.filter((part) => part !== '').join(by)

const quoted = (word: string): string =>
  /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

const secretFlag = /^--?[\w-]*(?:pass(?:word|wd|phrase)?|token|secret|api-?key|credential)$/i

const commandText = ({ command, args }: Fields): string => {
  const words = [command, ...(Array.isArray(args) ? (args as unknown[]) : [])].map(toText)
  if (words[0] === '') return ''
  return words
    .map((word, i) => (secretFlag.test(words[i - 1] ?? '') ? '***' : withoutCredentials(word)))
    .map(quoted)
    .join(' ')
}

const urlText = ({ method, url, path }: Fields): string => {
  const where = withoutCredentials(toText(url))
  if (where === '') return ''
  return joined([joined([toText(method), where]), toText(path)], ' → ')
}

const hostText = ({ hostname, host, port }: Fields): string =>
  joined([toText(hostname) || toText(host), toText(port)], ':')

const pairText = ({ source, destination }: Fields): string =>
  toText(destination) === '' ? '' : joined([toText(source), toText(destination)], ' → ')

/** Recipients of a call. Not the subject: a notice says where something goes, not what is in it. */
const recipientsText = ({ to, cc, bcc, message_id, filter }: Fields): string => {
  const { channel, agents } = (
    typeof filter === 'object' && filter !== null ? filter : {}
  ) as Fields
  return joined(
    [
      ['to', toList(to)],
      ['cc', toList(cc)],
      ['bcc', toList(bcc)],
      ['channel', toText(channel)],
      ['agents', toList(agents)],
      ['message', toText(message_id)],
    ].map(([name, value]) => (value === '' ? '' : `${name} ${value}`)),
    '; ',
  )
}

const pathText = (fields: Fields): string => {
  const { path, root, include_glob, file, files, pattern } = fields
  const place = toText(path) || joined([toText(root), toText(include_glob)], '/')
  if (place === '') return ''
  const more = ['action', 'name', 'ref', 'remote', 'branch'].map((name) => toText(fields[name]))
  const words = [place, toText(file), toList(files), ...more]
  return joined([...words, toText(pattern) === '' ? '' : `"${toText(pattern)}"`])
}

const keyText = ({ area, key, prefix }: Fields): string =>
  joined([toText(area), toText(key) || (toText(prefix) && `${toText(prefix)}*`)], ' ')

/** A tool of a server that a client talks to by itself. */
const serverText = ({ server, tool }: Fields): string =>
  toText(server) === '' ? '' : joined([toText(server), toText(tool)])

const laterText = ({ capability, arguments: later }: Fields): string =>
  typeof later === 'object' && later !== null
    ? joined([toText(capability), describeCall(toText(capability), later as Fields)])
    : ''

/** Text of one line, no longer than a list can show. */
const toLine = (text: string): string => {
  const characters = Array.from(escaped(text))
  return characters.length > callTextMax
    ? `${characters.slice(0, callTextMax - 1).join('')}…`
    : characters.join('')
}

/** Acts about a call carry its name and, as `object`, what it was about. */
const actOnCall = /^(?:approval|grant|schedule)\.[a-z_]+$/

const actText = ({ capability, object }: Fields): string =>
  joined([toText(capability), toText(object)])

/** Fields that name what a call or an act is about, the most telling first. */
const named = [
  ...['title', 'secret_name', 'name', 'label', 'channel', 'service', 'file', 'query'],
  ...['message_ids', 'message_id', 'event_id', 'write_id', 'rollback_id', 'trash_id', 'watch_id'],
  ...['process_id', 'schedule_id', 'subscription_id', 'alert_id', 'grant_id', 'approval_id'],
  ...[
    'model',
    'id',
    'working_directory',
    'folder',
    'calendar',
    'category',
    'status',
    'severity',
    'capability',
    ...['paths', 'deletes', 'tool', 'log'],
  ],
]

/** A buffered write: what it does, where, and to whom. */
const writeText = ({ operation, service, ...fields }: Fields): string =>
  toText(operation) === ''
    ? ''
    : joined([toText(operation), toText(service), recipientsText(fields)])

const namedText = (fields: Fields): string => {
  const name = named.find((field) => toList(fields[field]) !== '')
  if (name === undefined) return ''
  const where = name === 'message_ids' ? toText(fields['folder']) : ''
  return joined([toList(fields[name]), where === '' ? '' : `→ ${where}`])
}

const mailed = /^(?:email\.(?:send|draft|reply|forward)|comms\.(?:send|broadcast))$/

/**
 * Object of a call, in one line: the path, the host, the command, the recipients. Made of its arguments
 * as they were sent or as the log keeps them, never of contents, headers or credentials. Empty where a call
 * is about nothing in particular.
 */
export function describeCall(capability: string, fields: Fields): string {
  const isAct = actOnCall.test(capability) && typeof fields['object'] === 'string'
  const ways = mailed.test(capability)
    ? [recipientsText]
    : isAct
      ? [actText]
      : [
          commandText,
          urlText,
          hostText,
          pairText,
          laterText,
          keyText,
          pathText,
          writeText,
          serverText,
          namedText,
        ]
  for (const way of ways) {
    const text = toLine(way(fields))
    if (text !== '') return text
  }
  return ''
}

/** The parts of an entry of the audit log that say what it is about. */
type DescribedEntry = {
  readonly capability: string
  readonly arguments: Fields
  readonly detail: Fields | null
}

/**
 * Object of an audit entry, in one line. Where its arguments only name an id, or are those of a
 * call that a person changed, `object` in the detail says it; of an alert its message.
 */
export function describeEntry({ capability, arguments: args, detail }: DescribedEntry): string {
  const text = toText(detail?.['object']) || toText(detail?.['message'])
  if (detail === null || text === '') return describeCall(capability, args)
  return toLine(actOnCall.test(capability) ? actText(detail) : text)
}
