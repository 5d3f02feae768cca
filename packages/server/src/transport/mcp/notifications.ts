import { CapabilityResult, type GatehouseEvent } from '@gatehouse/contract'
import type { ChangingLists } from '../../app/upstreams/features.ts'
import type { ToolNames } from '../http/tool-names.ts'
import { resultOfStored } from './tools.ts'

export type McpNotification = {
  readonly jsonrpc: '2.0'
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

const notification = (
  method: string,
  params?: Readonly<Record<string, unknown>>,
): McpNotification => ({ jsonrpc: '2.0', method, ...(params ? { params } : {}) })

const resolved = (event: GatehouseEvent, names: ToolNames): McpNotification => {
  const { approval_id, status, result, capability, text, edited } = event.data
  const stored = CapabilityResult.safeParse(result)
  const facts = {
    capability: String(capability),
    text: typeof text === 'string' ? text : null,
    note: (edited as { readonly note: string } | undefined)?.note,
  }
  return notification('notifications/approvals/resolved', {
    approval_id,
    status,
    ...(stored.success ? { result: resultOfStored({ ...facts, result: stored.data }, names) } : {}),
  })
}

const changes: Readonly<Record<string, ChangingLists[number]>> = {
  'prompts.changed': 'prompts',
  'resources.changed': 'resources',
}

/** List beside that of the tools which an event says has changed: told of to clients that were promised it. */
export const changedListOf = ({ type }: GatehouseEvent): ChangingLists[number] | null =>
  changes[type] ?? null

/** An event as MCP peers are told of it; those we have no name for go under our own. */
export const notificationOf = (event: GatehouseEvent, names: ToolNames): McpNotification => {
  const list = changedListOf(event)
  if (list !== null) return notification(`notifications/${list}/list_changed`)
  switch (event.type) {
    case 'tools.changed':
      return notification('notifications/tools/list_changed')
    case 'approval.resolved':
      return resolved(event, names)
    case 'wake':
      return notification('notifications/wake', event.data)
    case 'files.changed':
      return notification('notifications/files/changed', event.data)
    default: {
      const { id, type, timestamp, data } = event
      return notification('notifications/gatehouse/event', { id, type, timestamp, data })
    }
  }
}
