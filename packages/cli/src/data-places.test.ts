import { expect, test } from 'vitest'
import { dataPlaces } from './data-places.ts'

const env = { GATEHOUSE_DATA_DIR: '/env', XDG_DATA_HOME: '/xdg', HOME: '/home/ana' }

test('looks where the flag says, or the environment, and nowhere else then', () => {
  expect(dataPlaces('/flag', env)).toEqual({ named: true, dirs: ['/flag'] })
  expect(dataPlaces(undefined, env)).toEqual({ named: true, dirs: ['/env'] })
})

test('looks in the usual places where nobody says, never in the working folder', () => {
  const unset = { ...env, GATEHOUSE_DATA_DIR: '' }
  expect(dataPlaces(undefined, unset)).toEqual({
    named: false,
    dirs: ['/xdg/gatehouse', '/home/ana/.local/share/gatehouse', '/var/lib/gatehouse'],
  })
  expect(dataPlaces(undefined, { HOME: '/home/ana' })).toEqual({
    named: false,
    dirs: ['/home/ana/.local/share/gatehouse', '/var/lib/gatehouse'],
  })
})
