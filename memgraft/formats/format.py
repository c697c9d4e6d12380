"""What all formats have in common."""

from pydantic import BaseModel, ConfigDict


class Format(BaseModel):
    """Strict: a string is not a number and a NaN is no measurement."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", allow_inf_nan=False, defer_build=True)
