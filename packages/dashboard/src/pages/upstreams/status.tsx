import type { Upstream, UpstreamTool } from '@gatehouse/contract'
import { upstreamsText as text } from '../../messages/upstreams.ts'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'

const tones: Readonly<Record<Upstream['status'], BadgeTone>> = {
  ready: 'good',
  needs_review: 'warn',
  needs_login: 'warn',
  failing: 'bad',
  unconnected: 'neutral',
}

export const UpstreamStatusBadge = ({ status }: Pick<Upstream, 'status'>) => (
  <Badge tone={tones[status]}>{text.status[status]}</Badge>
)

const toolTones: Readonly<Record<UpstreamTool['state'], BadgeTone>> = {
  offered: 'good',
  new: 'warn',
  changed: 'warn',
  vanished: 'warn',
  declined: 'neutral',
  refused: 'bad',
}

export const ToolStateBadge = ({ state }: Pick<UpstreamTool, 'state'>) => (
  <Badge tone={toolTones[state]}>{text.toolState[state]}</Badge>
)

/** The command line or the address of a server. */
export const serverText = ({ server }: Pick<Upstream, 'server'>): string =>
  server.kind === 'http' ? server.url : [server.command, ...server.args].join(' ')
