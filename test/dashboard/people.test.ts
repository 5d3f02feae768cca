import { type PersonRole, PersonRole as roles } from '@gatehouse/contract'
import { type Permission, type Route, routes } from '@gatehouse/contract/routes'
import { permits } from '@gatehouse/contract/routes/permissions'
import { hasProgram } from '@gatehouse/testkit/programs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Dashboard, password } from '../support/dashboard.ts'
import { invoke } from '../support/server.ts'

/** A button of each thing that only some may do, and where it stands. */
const buttons: readonly (readonly [string, string, Permission])[] = [
  ['/overview', 'Pause all agents', 'agents.manage'],
  ['/approvals', 'Approve and run', 'approvals.decide'],
  ['/approvals', 'Reject', 'approvals.decide'],
  ['/agents', 'Create an agent', 'agents.manage'],
  ['/agents/mailbot', 'Actions for mailbot', 'agents.manage'],
  ['/policy?tab=edit', 'Save…', 'policies.manage'],
  ['/services', 'Connect a service', 'proxy.manage'],
  ['/upstreams', 'Add a server', 'upstreams.manage'],
  ['/state?agent=mailbot', 'Delete', 'state.manage'],
  ['/secrets', 'Add a secret', 'vault.manage'],
  ['/models', 'Install', 'models.manage'],
  ['/alerts', 'Acknowledge', 'alerts.manage'],
  ['/settings', 'Add a person', 'operators.manage'],
  ['/settings?tab=tokens', 'Create a user token', 'user_tokens.manage'],
]

describe.skipIf(!hasProgram('chromium'))('people at the dashboard', () => {
  let dashboard: Dashboard
  let token = ''

  const logInAs = async (name: string): Promise<{ page: Page; leave: () => Promise<void> }> => {
    const { page, context } = await dashboard.another()
    await page.goto(dashboard.run.dashboard_url)
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    return { page, leave: () => context.close() }
  }

  beforeAll(async () => {
    dashboard = await Dashboard.openAs('ana')
    token = (await dashboard.api.createAgent({ name: 'mailbot' })).token
    const { run } = dashboard
    await invoke(run, token, 'filesystem.write', { path: 'a.txt', content: 'kept' })
    await invoke(run, token, 'filesystem.delete', { path: 'a.txt' })
    await invoke(run, token, 'state.set', { key: 'last', value: 12 })
    await invoke(run, token, 'alerts.send', { severity: 'warning', message: 'Look here' })
  })
  afterAll(() => dashboard?.[Symbol.asyncDispose]())

  test.each(['approver', 'viewer'] as const)(
    'an operator adds somebody with the role %s',
    async (role) => {
      const { page, api } = dashboard
      await dashboard.goTo('/settings')
      await page.getByRole('button', { name: 'Add a person' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Name').fill(role)
      await dialog.getByLabel('Role').selectOption(role)
      await dialog.getByLabel('Your current password').fill(password)
      await dialog.getByLabel('New password').fill(password)
      await dialog.getByRole('button', { name: 'Add a person' }).click()
      await page.getByText(`${role} can log in now.`).waitFor()
      const { operators } = await api.listOperators()
      expect(operators).toContainEqual(expect.objectContaining({ name: role, role }))
    },
  )

  test.each(roles.options)(
    'the role %s sees a button for what it may do and for nothing else',
    async (role: PersonRole) => {
      const { page, leave } = await logInAs(role === 'operator' ? 'ana' : role)
      const seen: (readonly [string, string, boolean])[] = []
      let shown = ''
      for (const [address, name] of buttons) {
        if (address !== shown) await page.goto(`${dashboard.run.dashboard_url}${address}`)
        shown = address
        await dashboard.loaded(page)
        const named = new RegExp(`^${name}(: .*)?$`)
        const button = page.locator('#content').getByRole('button', { name: named }).first()
        seen.push([address, name, (await button.count()) > 0])
      }
      expect(seen).toEqual(
        buttons.map(([address, name, permission]) => [address, name, permits(role, permission)]),
      )
      await leave()
    },
  )

  test.each(['approver', 'viewer'] as const)(
    'the service refuses the role %s what its page does not offer',
    async (role) => {
      const { page, leave } = await logInAs(role)
      const refused = Object.values<Route>(routes).filter(
        ({ permission }) => permission !== 'public' && !permits(role, permission),
      )
      expect(refused.length).toBeGreaterThan(40)
      const asked = refused.map(({ method, path }) => ({
        method,
        path: path.replaceAll(/:\w+/g, 'x'),
      }))
      const statuses = await page.evaluate<number[]>(
        `Promise.all(${JSON.stringify(asked)}.map(({ method, path }) =>
          fetch(path, { method }).then(({ status }) => status)))`,
      )
      expect(asked.filter((_one, at) => statuses[at] !== 403)).toEqual([])
      await leave()
    },
  )

  test('an approver decides, and the log names them', async () => {
    const { page, leave } = await logInAs('approver')
    await page.goto(`${dashboard.run.dashboard_url}/approvals`)
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.getByText('Rejected by approver').waitFor()
    const { approvals } = await dashboard.api.listApprovals({ status: 'rejected' })
    expect(approvals.map(({ decided_by }) => decided_by)).toEqual(['user:approver'])
    await leave()
  })

  test('what somebody else changes while a form is open stands', async () => {
    const { page, api } = dashboard
    await dashboard.goTo('/agents')
    const menu = page.getByRole('button', { name: 'Actions for mailbot' })
    const openForm = async () => {
      await menu.click()
      await page.getByRole('menuitem', { name: 'Edit' }).click()
    }
    const dialog = page.getByRole('dialog')
    const save = dialog.getByRole('button', { name: 'Save' })
    await openForm()
    await dialog.getByLabel('Purpose').fill('Sorts mail')
    await api.editAgent({ name: 'mailbot', purpose: 'Sorts the post', tools: ['email.*'] })
    await page.locator('td').getByText('Sorts the post').waitFor()
    await save.click()
    await dialog.getByRole('alert').getByText('was changed by somebody else').waitFor()
    const before = await api.showAgent({ name: 'mailbot' })
    expect([before.purpose, before.tools]).toEqual(['Sorts the post', ['email.*']])
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    await openForm()
    await dialog.getByLabel('Purpose').fill('Sorts mail')
    await api.editAgent({ name: 'mailbot', tools: ['email.read'] })
    await save.click()
    await dialog.waitFor({ state: 'detached' })
    const after = await api.showAgent({ name: 'mailbot' })
    expect([after.purpose, after.tools]).toEqual(['Sorts mail', ['email.read']])
  })

  test('the new scope of a secret leaves to others what was not typed', async () => {
    const { page, api } = dashboard
    await api.addSecret({
      name: 'crm',
      value: 'a-value-of-the-crm',
      hosts: ['crm.example'],
      agents: ['mailbot'],
    })
    await dashboard.goTo('/secrets')
    await page.getByRole('button', { name: 'Actions: crm' }).click()
    await page.getByRole('menuitem', { name: 'Change the scope' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Description').fill('The CRM')
    await api.changeSecret({ name: 'crm', agents: [] })
    await dialog.getByRole('button', { name: 'Change the scope' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { secrets } = await api.listSecrets()
    expect(secrets.find(({ name }) => name === 'crm')).toMatchObject({
      ...{ description: 'The CRM', hosts: ['crm.example'], agents: [] },
    })
  })

  test('a new token is shown although its agent leaves the list', async () => {
    const { page, api } = dashboard
    const others = Array.from({ length: 8 }, (_, at) => `other-${at}`)
    for (const name of others) await api.createAgent({ name })
    await api.revokeAgent({ name: 'other-0' })
    await dashboard.goTo('/agents?status=revoked')
    await page.getByRole('button', { name: 'Actions for other-0' }).click()
    await page.getByRole('menuitem', { name: 'Restore with a new token' }).click()
    const shown = page.getByRole('dialog', { name: 'The token of other-0' })
    await shown.waitFor()
    await page.getByRole('button', { name: 'Actions for other-0' }).waitFor({ state: 'detached' })
    await dashboard.loaded()
    expect(await shown.locator('pre').first().innerText()).toMatch(/^\s*[0-9a-f]{32,}\s*$/)
    await shown.getByRole('button', { name: 'Done' }).click()
  })

  test('a new password for somebody who was removed meanwhile makes nobody anew', async () => {
    const { page, api } = dashboard
    await api.setPassword({ name: 'vic', role: 'viewer', password })
    await dashboard.goTo('/settings')
    await page.getByRole('button', { name: 'Password and role: vic' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Your current password').fill(password)
    await dialog.getByLabel('New password').fill(password)
    await api.removeOperator({ name: 'vic' })
    await dialog.getByRole('button', { name: 'Password and role' }).click()
    await dialog.getByRole('alert').getByText('There is no operator vic.').waitFor()
    const { operators } = await api.listOperators()
    expect(operators.map(({ name }) => name)).not.toContain('vic')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  })

  test('what one person had open is nothing that the next one sees', async () => {
    const { page, leave } = await logInAs('ana')
    const secret = page.getByRole('dialog').locator('pre')
    const dialog = (name: string) => page.getByRole('dialog', { name })
    const logInAgain = async (name: string) => {
      const ended = dialog('Your login has ended')
      const [newest] = (await dashboard.api.listLogins()).logins
      await dashboard.api.endLogin({ id: newest?.id ?? '' })
      await ended.waitFor()
      await ended.getByLabel('Name').fill(name)
      await ended.getByLabel('Password', { exact: true }).fill(password)
      await ended.getByRole('button', { name: 'Log in' }).click()
      await page.getByRole('button', { name: `Account of ${name}` }).waitFor()
      await ended.waitFor({ state: 'detached' })
    }
    await page.goto(`${dashboard.run.dashboard_url}/agents`)
    await page.getByRole('button', { name: 'Actions for mailbot' }).click()
    await page.getByRole('menuitem', { name: 'Rotate the token' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate the token' }).click()
    await dialog('The token of mailbot').waitFor()
    // The same person goes on where they were.
    await logInAgain('ana')
    await dialog('The token of mailbot').waitFor()
    await logInAgain('viewer')
    await page.getByRole('link', { name: 'mailbot' }).waitFor()
    expect([await page.getByRole('dialog').count(), await secret.count()]).toEqual([0, 0])
    await leave()
  })

  test('logging out ends the login at the service, too', async () => {
    const { page, leave } = await logInAs('viewer')
    const cookies = await page.context().cookies()
    await page.getByRole('button', { name: 'Account of viewer' }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await page.getByText('You are logged out.').waitFor()
    await page.context().addCookies(cookies)
    await page.goto(`${dashboard.run.dashboard_url}/agents`)
    await page.getByRole('button', { name: 'Log in' }).waitFor()
    expect(await page.getByRole('navigation', { name: 'Pages' }).count()).toBe(0)
    await leave()
  })

  // The last one: this address may not try again for a minute.
  test('wrong passwords are counted, and the page says what to do', async () => {
    const { page, context } = await dashboard.another()
    await page.goto(dashboard.run.dashboard_url)
    const field = page.getByLabel('Password', { exact: true })
    const alert = page.getByRole('alert')
    for (let count = 0; count < 5; count += 1) {
      await field.fill(`wrong ${count}`)
      const answered = page.waitForResponse('**/api/session')
      await page.getByRole('button', { name: 'Log in' }).click()
      expect((await answered).status()).toBe(401)
      await alert.getByText('the name or the password is wrong').waitFor()
    }
    await field.fill(password)
    await page.getByRole('button', { name: 'Log in' }).click()
    await alert.getByText('Too many failed logins from this address.').waitFor()
    await alert.getByText('Wait a minute.', { exact: false }).waitFor()
    expect(await page.getByRole('navigation', { name: 'Pages' }).count()).toBe(0)
    await context.close()
  })
})
