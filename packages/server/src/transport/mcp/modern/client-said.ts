import { isLogLevel, type LogLevel } from '@gatehouse/contract'
import { isMembers, type Members } from '../../http/envelope.ts'
import { type ClientInfo, readClient } from '../peer.ts'
import { versionKey } from './is-modern.ts'

export const tasksExtension = 'io.modelcontextprotocol/tasks'

const infoKey = 'io.modelcontextprotocol/clientInfo'
const logLevelKey = 'io.modelcontextprotocol/logLevel'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

/** Self-description of the client in a request. It opens ways to answer, and decides nothing. */
export type ClientSaid = {
  readonly info: ClientInfo | null
  /** Whether the answer may be a task. */
  readonly tasks: boolean
  /** Whether the client shows a link to its person. */
  readonly elicitsUrl: boolean
  /** Of what it wants to read of the logs of servers while it is answered; null for nothing. */
  readonly logLevel: LogLevel | null
}

const members = (value: unknown): Members => (isMembers(value) ? value : {})

export const readClientSaid = (params: Members): ClientSaid => {
  const meta = members(params['_meta'])
  const { [logLevelKey]: level, [versionKey]: protocol } = meta
  const { extensions, elicitation } = members(meta[capabilitiesKey])
  return {
    info: readClient(meta[infoKey], typeof protocol === 'string' ? protocol.slice(0, 32) : ''),
    tasks: isMembers(members(extensions)[tasksExtension]),
    elicitsUrl: isMembers(members(elicitation)['url']),
    logLevel: isLogLevel(level) ? level : null,
  }
}
