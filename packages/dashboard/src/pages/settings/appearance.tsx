import { settingsText as text } from '../../messages/settings.ts'
import { singleKeys, theme } from '../../shell/preferences.ts'
import { Checkbox, SelectField } from '../../ui/field.tsx'
import { ThisDevice } from './this-device.tsx'

const themes = ['system', 'light', 'dark'] as const

/** Choices of a person for this browser. */
export const Appearance = () => {
  const chosen = theme.use()
  const keys = singleKeys.use()
  return (
    <div className="grid items-start gap-4 xl:grid-cols-2">
      <div className="card grid max-w-xl gap-4 p-4">
        <SelectField
          label={text.theme}
          value={chosen}
          onChange={({ target }) =>
            theme.set(themes.find((one) => one === target.value) ?? 'system')
          }
          options={themes.map((value) => ({ value, text: text.themes[value] }))}
        />
        <Checkbox
          label={text.keys}
          hint={text.keysHint}
          checked={keys === 'on'}
          onChange={({ target }) => singleKeys.set(target.checked ? 'on' : 'off')}
        />
      </div>
      <ThisDevice />
    </div>
  )
}
