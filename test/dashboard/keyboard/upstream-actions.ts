import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect } from 'vitest'
import type { Action, World } from './world.ts'

const program = realpathSync(
  new URL('../../../packages/server/test/upstream/scripted-server.mjs', import.meta.url).pathname,
)

const shown = async (world: World, name: string) =>
  (await world.api.listUpstreams()).upstreams.find((one) => one.name === name)

/** Questions in the middle of a call: each answer of a person, and what the server is told. */
const questionActions = (world: World): readonly Action[] => {
  let id = ''
  // The same call again would get the answer of the one before.
  const ask = (text: string) => async () => {
    const held = await world.call('echo.ask', { text })
    id = String(held.error?.data?.['approval_id'])
    await world.api.approveApproval({ id })
    await expect.poll(async () => (await world.api.listQuestions()).questions.length).toBe(1)
  }
  const isTold = (action: string) => async () => {
    const { execution } = await world.api.showApproval({ id })
    return JSON.stringify(execution).includes(action)
  }
  return [
    {
      does: 'answerQuestion',
      at: '/approvals',
      first: ask('first'),
      by: async (keys) => {
        await keys.fill('Branch', 'main')
        await keys.press('Send the answer')
      },
      holds: isTold('main'),
    },
    {
      does: 'answerQuestion',
      at: '/approvals',
      first: ask('second'),
      by: (keys) => keys.press('Decline'),
      holds: isTold('decline'),
    },
    {
      does: 'answerQuestion',
      at: '/approvals',
      first: ask('third'),
      by: (keys) => keys.press('Dismiss'),
      holds: isTold('cancel'),
    },
  ]
}

/** A server behind a login. */
const loginActions = (world: World): readonly Action[] => {
  const { oauth } = world
  const link = world.dashboard.page.getByRole('dialog').getByRole('link')
  return [
    {
      does: 'addUpstream',
      at: '/upstreams',
      by: async (keys) => {
        await keys.press('Add a server')
        await keys.fill('Name', 'tickets')
        await keys.pick('How it is reached', 'An address, over HTTP')
        await keys.fill('Address', oauth.mcp)
        await keys.press('Connect and inspect')
        await keys.press('Add the server')
      },
      holds: async () => (await shown(world, 'tickets'))?.status === 'needs_login',
    },
    {
      does: 'loginUpstream',
      at: '/upstreams/tickets',
      by: async (keys) => {
        await keys.choose('Actions: tickets', 'Log in')
        await keys.press('Start the login')
      },
      holds: () => link.isVisible(),
    },
    {
      does: 'finishUpstreamLogin',
      at: '/upstreams/tickets',
      by: async (keys) => {
        await keys.press('Log in')
        await keys.press('Start the login')
        const redirected = await oauth.browse(
          (await link.getAttribute('href')) ?? '',
          '/upstream-login',
        )
        await keys.fill('The address that the browser showed at the end', redirected)
        await keys.press('Finish the login')
      },
      holds: async () => (await shown(world, 'tickets'))?.login !== null,
    },
    {
      does: 'logoutUpstream',
      at: '/upstreams/tickets',
      by: (keys) => keys.choose('Actions: tickets', 'Log out'),
      holds: async () => (await shown(world, 'tickets'))?.login === null,
    },
  ]
}

export const upstreamActions = (world: World): readonly Action[] => {
  const waiting = async () => (await shown(world, 'echo'))?.waiting
  return [
    {
      does: 'addUpstream',
      at: '/upstreams',
      by: async (keys) => {
        await keys.press('Add a server')
        await keys.fill('Name', 'echo')
        await keys.fill('Program', process.execPath)
        await keys.fill('Arguments of the program', `${program}\n${world.folder}/script.json`)
        await keys.fill('Folders', `${dirname(program)}\n${world.folder}`)
        await keys.press('Connect and inspect')
        await keys.press('Add the server')
      },
      holds: async () => (await waiting()) === 3,
    },
    {
      does: 'declineUpstream',
      at: '/upstreams/echo',
      by: (keys) => keys.press('Decline: sing'),
      holds: async () => (await waiting()) === 2,
    },
    {
      does: 'acceptUpstream',
      at: '/upstreams/echo',
      by: (keys) => keys.press('Accept all 2 to review'),
      holds: async () => (await waiting()) === 0,
    },
    {
      does: 'acceptUpstream',
      at: '/upstreams/echo',
      by: (keys) => keys.press('Accept: sing'),
      holds: async () => (await shown(world, 'echo'))?.offered === 3,
    },
    ...questionActions(world),
    {
      does: 'refreshUpstream',
      at: '/upstreams/echo',
      by: (keys) => keys.press('Check again'),
      holds: async () => world.dashboard.page.getByText('Connected and compared.').isVisible(),
    },
    {
      does: 'restartUpstream',
      at: '/upstreams/echo',
      by: async (keys) => {
        await keys.choose('Actions: echo', 'Suggested rules')
        await keys.press('Begin a draft with them')
        await keys.press('Discard the draft')
        await world.dashboard.goTo('/upstreams/echo')
        await keys.choose('Actions: echo', 'Suggested rules')
        await keys.press('Copy')
        await keys.leave()
        await keys.choose('Actions: echo', 'Restart')
      },
      holds: async () => (await shown(world, 'echo'))?.connections === 0,
    },
    {
      does: 'removeUpstream',
      at: '/upstreams/echo',
      by: async (keys) => {
        await keys.choose('Actions: echo', 'Remove')
        await keys.fill('Type echo to confirm', 'echo')
        await keys.press('Remove')
      },
      holds: async () => (await shown(world, 'echo')) === undefined,
    },
    ...loginActions(world),
  ]
}
