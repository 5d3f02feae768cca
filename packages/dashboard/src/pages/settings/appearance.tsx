import { settingsText as text } from '../../messages/settings.ts'
import { shellText } from '../../messages/shell.ts'
import { singleKeys, theme, times } from '../../shell/preferences.ts'
import { Checkbox, SelectField } from '../../ui/field.tsx'
import { ThisDevice } from './this-device.tsx'

const themes = ['system', 'light', 'dark'] as const
const forms = ['relative', 'local', 'utc'] as const

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
        <SelectField
          label={text.times}
          hint={text.timesHint}
          value={times.use()}
          onChange={({ target }) =>
            times.set(forms.find((one) => one === target.value) ?? 'relative')
          }
          options={forms.map((value) => ({ value, text: shellText.times[value] }))}
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
