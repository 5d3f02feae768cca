import {
  AcceptUpstream,
  AddUpstream,
  RemovedUpstream,
  SuggestedRules,
  UpstreamList,
  UpstreamReview,
} from '../upstream.ts'
import { defineRoutes } from './define-routes.ts'

const connecting = [
  'UpstreamFailed',
  'SandboxUnavailable',
  'SecretNotAllowed',
  'VaultLocked',
] as const

export const upstreamRoutes = defineRoutes({
  listUpstreams: {
    method: 'GET',
    path: '/api/upstreams',
    summary: 'MCP servers behind the gate, with their state',
    permission: 'read',
    answer: UpstreamList,
  },
  showUpstream: {
    method: 'GET',
    path: '/api/upstreams/:name',
    summary: 'One server with its tools, and how they differ from what was accepted',
    permission: 'read',
    answer: UpstreamReview,
    errors: ['UpstreamNotFound'],
  },
  addUpstream: {
    method: 'POST',
    path: '/api/upstreams',
    summary: 'Connect a server and show its tools; none is offered before it is accepted',
    permission: 'upstreams.manage',
    body: AddUpstream,
    answer: UpstreamReview,
    success: 201,
    errors: ['Conflict', 'UpstreamRefused', 'SecretRefused', 'QuotaExceeded', ...connecting],
  },
  acceptUpstream: {
    method: 'POST',
    path: '/api/upstreams/:name/accept',
    summary: 'Accept tools as they were shown: from now on agents are offered them',
    permission: 'upstreams.manage',
    body: AcceptUpstream,
    answer: UpstreamReview,
    errors: ['UpstreamNotFound', 'UpstreamRefused', 'Conflict'],
  },
  refreshUpstream: {
    method: 'POST',
    path: '/api/upstreams/:name/refresh',
    summary: 'Connect anew, and compare the tools with what was accepted',
    permission: 'upstreams.manage',
    answer: UpstreamReview,
    errors: ['UpstreamNotFound', ...connecting],
  },
  restartUpstream: {
    method: 'POST',
    path: '/api/upstreams/:name/restart',
    summary: 'End its connections and processes; the next call starts it again at once',
    permission: 'upstreams.manage',
    answer: UpstreamReview,
    errors: ['UpstreamNotFound'],
  },
  suggestUpstreamRules: {
    method: 'GET',
    path: '/api/upstreams/:name/suggested-rules',
    summary: 'Rules for its tools as the server describes them, for a person to read',
    permission: 'read',
    answer: SuggestedRules,
    errors: ['UpstreamNotFound'],
  },
  removeUpstream: {
    method: 'DELETE',
    path: '/api/upstreams/:name',
    summary:
      'Remove a server: its tools, what was accepted of them, its credentials and its folder',
    permission: 'upstreams.manage',
    answer: RemovedUpstream,
    errors: ['UpstreamNotFound'],
  },
})
