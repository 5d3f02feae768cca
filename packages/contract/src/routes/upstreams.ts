import {
  AcceptUpstream,
  AddUpstream,
  FinishUpstreamLogin,
  LoginUpstream,
  RemovedUpstream,
  SuggestedRules,
  UpstreamList,
  UpstreamLoginStart,
  UpstreamReview,
} from '../upstream.ts'
import { defineRoutes } from './define-routes.ts'

const connecting = [
  'UpstreamFailed',
  'UpstreamNeedsLogin',
  'SandboxUnavailable',
  'SecretNotAllowed',
  'VaultLocked',
] as const

const loggingIn = ['UpstreamFailed', 'SecretRefused', 'VaultLocked'] as const

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
  loginUpstream: {
    method: 'POST',
    path: '/api/upstreams/:name/login',
    summary: 'Begin a login (OAuth): answers the address that a person opens in a browser',
    permission: 'upstreams.manage',
    body: LoginUpstream,
    answer: UpstreamLoginStart,
    errors: ['UpstreamNotFound', 'UpstreamRefused', 'UpstreamLoginRefused', ...loggingIn],
  },
  finishUpstreamLogin: {
    method: 'POST',
    path: '/api/upstreams/:name/login/finish',
    summary: 'Finish a login with the address that the browser was sent to, and show the tools',
    permission: 'upstreams.manage',
    body: FinishUpstreamLogin,
    answer: UpstreamReview,
    errors: ['UpstreamNotFound', 'UpstreamLoginRefused', 'SecretRefused', ...connecting],
  },
  logoutUpstream: {
    method: 'POST',
    path: '/api/upstreams/:name/logout',
    summary: 'Delete the tokens of a server, and revoke them where it can be done',
    permission: 'upstreams.manage',
    answer: UpstreamReview,
    errors: ['UpstreamNotFound', 'VaultLocked'],
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
