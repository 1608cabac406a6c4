"""Keys of LiteLLM's proxy without its database: `sk-<person>` is a key of that person, with all that a page may name."""

from litellm.proxy._types import LitellmUserRoles, UserAPIKeyAuth

MASTER_KEY = "sk-real-master-key"


async def user_api_key_auth(request, api_key: str) -> UserAPIKeyAuth:
    if api_key == MASTER_KEY:
        return UserAPIKeyAuth(api_key=api_key, user_role=LitellmUserRoles.PROXY_ADMIN)
    person = api_key.removeprefix("sk-")
    if person == api_key:
        raise Exception("no such key")
    return UserAPIKeyAuth(
        api_key=api_key,
        user_id=person,
        user_email=f"{person}@people.example",
        key_alias=f"key-of-{person}",
        team_id=f"team-id-of-{person}",
        team_alias=f"team-of-{person}",
        end_user_id=f"customer-of-{person}",
    )
