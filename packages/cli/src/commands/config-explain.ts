import type { Setting, SettingValue } from '@gatehouse/contract'
import { didYouMean } from '@gatehouse/contract/nearest'
import { CliError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { renderFields, renderTable } from '../table.ts'

const valueText = (value: SettingValue): string => {
  if (Array.isArray(value)) return value.join(', ') || '-'
  if (typeof value !== 'object' || value === null) return String(value ?? '-')
  return Object.keys(value).length === 0 ? '-' : JSON.stringify(value)
}

const activeText = ({ value, secret, set }: Setting): string =>
  secret && set ? 'set, not shown' : valueText(value)

const originText = ({ origin, source }: Setting): string => source ?? origin

function find(settings: readonly Setting[], key: string): Setting {
  const found = settings.find((setting) => setting.key === key)
  if (found) return found
  const meant = didYouMean(
    key,
    settings.map((setting) => setting.key),
  )
  throw new CliError('SettingNotFound', exitCodes.notFound, `There is no setting ${key}.${meant}`, {
    recovery: [{ action: 'gatehouse config explain', description: 'See all of them.' }],
  })
}

export const configExplain = defineCommand({
  name: 'config explain',
  summary: 'Show the active settings and where each value comes from',
  args: { key: { about: 'one setting, such as approvals.ttl', optional: true } },
  examples: [
    'gatehouse config explain',
    'gatehouse config explain approvals.ttl',
    'gatehouse config explain --json',
  ],
  async run({ api, isServed, note }, { key }) {
    const all = await api.getConfiguration()
    const shown = key === undefined ? all : find(all.settings, key)
    if (!(await isServed()))
      await note('No server runs: this is what a start with the same environment would read.')
    return shown
  },
  text: (shown, view) =>
    'settings' in shown
      ? `${renderTable(
          [
            { title: 'SETTING', value: ({ key }) => key },
            { title: 'FROM', value: originText },
            { title: 'VALUE', value: activeText, cut: true },
          ],
          shown.settings,
          view,
        )}\n\n${renderFields(
          [
            ['File', shown.file ?? 'none'],
            ['Version', shown.version],
          ],
          view,
        )}`
      : renderFields(
          [
            ['Setting', shown.key],
            ['Value', activeText(shown)],
            ['From', originText(shown)],
            ['Default', valueText(shown.default)],
            ['Purpose', shown.purpose],
          ],
          view,
        ),
})
