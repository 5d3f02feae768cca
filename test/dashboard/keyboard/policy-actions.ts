import { type Action, agentOf, type World } from './world.ts'

const file = 'Text of organisation.yaml'
const draft =
  'version: 1\nrules:\n  - { match: "email.*", tier: autonomous }\n  - { match: browser.fetch, tier: blocked }\ntests:\n  - { capability: browser.fetch, expect: blocked }\n'

export const policyActions = (world: World): readonly Action[] => {
  const policyIs = async (text: string) =>
    (await world.api.showPolicies()).files.some((one) => one.text === text)
  const isDone = (keys: World['keys'], name: Action['does']) => keys.done.includes(name)
  return [
    {
      does: 'simulatePolicy',
      at: '/policy?tab=simulate',
      first: async () => {
        const { status } = await agentOf(world, 'mailbot')
        if (status === 'paused') await world.api.resumeAgent({ name: 'mailbot' })
      },
      by: async (keys) => {
        await keys.fill('Capability', 'filesystem.write')
        await keys.fill('Arguments (JSON)', '{ "path": "plan.md", "content": "x" }')
        await keys.press('Simulate')
        await keys.press('Evaluated rules')
      },
      holds: async () => isDone(world.keys, 'simulatePolicy'),
    },
    {
      does: 'validatePolicy',
      at: '/policy?tab=edit',
      by: (keys) =>
        keys.fill(file, 'version: 1\nrules:\n  - { match: browser.fetch, tier: blcked }\n'),
      holds: async () =>
        world.dashboard.page.getByText('1 error: it can’t be saved yet.').isVisible(),
    },
    {
      does: 'replayPolicy',
      at: '/policy?tab=edit',
      first: () => world.call('filesystem.list', { path: '.' }),
      by: async (keys) => {
        await keys.fill(file, draft)
        await keys.to('Edit, 1')
        for (const tab of ['Simulate', 'Replay']) {
          await keys.key('ArrowRight')
          await keys.hasFocus(tab)
        }
        // The tab before it has the same name.
        await keys.fill('Days', '7')
        await keys.press('Replay')
      },
      holds: async () =>
        world.dashboard.page.getByText(/calls?, \d+ decided differently/).isVisible(),
    },
    {
      does: 'saveOrganisationPolicy',
      at: '/policy?tab=edit',
      by: async (keys) => {
        await keys.fill(file, `${draft}# Not this\n`)
        await keys.press('Discard the draft')
        await keys.press('Undo: The draft of organisation.yaml is discarded.')
        await keys.press('Discard the draft')
        await keys.fill(file, draft)
        await keys.press('Save…')
        await keys.press('Save and activate')
      },
      holds: () => policyIs(draft),
    },
    {
      does: 'simulatePolicy',
      at: '/policy?tab=edit',
      by: async (keys) => {
        await keys.press('Use a ready policy…')
        await keys.press('Show the difference…')
        await keys.press('Cancel')
      },
      holds: () => policyIs(draft),
    },
  ]
}
