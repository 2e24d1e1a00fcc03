import { expect, test } from 'vitest'
import { chooseUser } from './user.ts'

const root = { uid: 0, gid: 0 }
const ann = { uid: 501, gid: 20 }

test.each([
  ['who is not root is who they are', 'auto', root, ann, { ...ann, onHost: 'same' }],
  ['also where they say so', 501, root, ann, { ...ann, onHost: 'same' }],
  ['root becomes the owner', 'auto', ann, root, { ...ann, onHost: 'same' }],
  ['of what root owns nobody else can write', 'auto', root, root, { uid: 1000, gid: 1000, onHost: 'root' }],
  ['root is never root', 0, ann, root, { uid: 1000, gid: 1000, onHost: 'root' }],
  ['root becomes who was named', 33, ann, root, { uid: 33, gid: 33, onHost: 'same' }],
  ['with the group of the workspace, where it is theirs', 501, ann, root, { ...ann, onHost: 'same' }],
] as const)('%s', (_, asked, owner, own, user) => expect(chooseUser(asked, owner, own)).toEqual(user))

test.each([
  [0, ann, /only root can run commands as somebody else; you are 501/],
  [502, ann, /only root/],
  [-1, root, /may be a uid or auto/],
  [1.5, root, /may be a uid or auto/],
] as const)('%d is refused', (asked, own, message) => {
  expect(() => chooseUser(asked, ann, own)).toThrow(message)
})
